/* known.h - violations that are known and not mended yet.  Without --strict the simulation looks past them, so that it can
 * find others.  Whoever mends one deletes its line here, and the places that name it. */
#ifndef SIM_KNOWN_H
#define SIM_KNOWN_H

#define SIM_KNOWN(KNOWN)                                                                                               \
    KNOWN(AMBIGUOUS_BATCH, "a batch whose commit is ambiguous is applied again unit by unit, so effects happen twice") \
    KNOWN(TARGET_READ, "a passing read error on an event's target fails the step for good")                            \
    KNOWN(MOVED_TARGET, "when an event's target has moved and then ended, the durable call answers INSTANCE_TERMINAL") \
    KNOWN(NESTED_RACE, "waits in a race inside a losing branch are not abandoned")                                     \
    KNOWN(FORGOTTEN_REFUSAL,                                                                                           \
          "a refused boundary and its memory are gone when the turn ends before its step is asked for")                \
    KNOWN(RACE_LOGS, "log lines of a race's winner are written twice when the race is replayed within its turn")

enum sim_known {
#define SIM_KNOWN_CODE(code, text) SIM_KNOWN_##code,
    SIM_KNOWN(SIM_KNOWN_CODE)
#undef SIM_KNOWN_CODE
        SIM_KNOWN_COUNT
};

#endif
