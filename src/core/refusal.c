/* refusal.c - the facts about each refusal, as a table made from the list in refusal.h. */
#include "core/refusal.h"

struct facts {
    pawl_status status;
    bool keeps_chain;
    const char *text;
};

static const struct facts all[] = { [PW_REFUSED_NOT] = { PAWL_OK, true, "not refused" },
#define PW_REFUSAL_FACTS(name, status, keeps_chain, text) [PW_REFUSED_##name] = { status, keeps_chain, text },
                                    PW_REFUSAL_LIST(PW_REFUSAL_FACTS)
#undef PW_REFUSAL_FACTS
};

pawl_status pw_refusal_status(enum pw_refusal refusal)
{
    return all[refusal].status;
}

bool pw_refusal_keeps_chain(enum pw_refusal refusal)
{
    return all[refusal].keeps_chain;
}

const char *pw_refusal_text(enum pw_refusal refusal)
{
    return all[refusal].text;
}
