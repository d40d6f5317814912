/* ask.h - what clients do, directly and over HTTP, and what they may conclude from the answer.
 *
 * Over HTTP the handler of a process is called as a server would call it, without a socket.  A call that says "not yet"
 * stays open: it is asked again when chance wants it, or its process stops or crashes, or its client hangs up. */
#ifndef SIM_ASK_H
#define SIM_ASK_H

#include "model.h"
#include "pawl/http.h"

struct sim_process;
struct sim_world;

enum { SIM_ASKS_MAX = 6, SIM_FOLLOWERS_MAX = 2, SIM_TARGET_MAX = 480, SIM_MARK_MAX = 1200 };

/* ---- Deeds: what a call is to change, and whether what it acknowledged is so (deeds.c) -------------------------------- */

enum sim_deed_kind {
    SIM_DEED_CREATE,
    SIM_DEED_BATCH,
    SIM_DEED_EVENT,
    SIM_DEED_PAUSE,
    SIM_DEED_RESUME,
    SIM_DEED_TERMINATE,
    SIM_DEED_RESTART,
    SIM_DEED_RESTART_FROM, /* a step */
    SIM_DEED_RESEND,       /* of a delivery */
    /* From here on never over HTTP. */
    SIM_DEED_INTERRUPT,
    SIM_DEED_ROLLBACK,
    SIM_DEED_RETRY,
    SIM_DEED_SUCCEED, /* of a deferred, as is the next */
    SIM_DEED_FAIL
};

struct sim_deed {
    enum sim_deed_kind kind;
    struct sim_instance *instance; /* NULL: it is to be created, or none */
    const struct sim_delivery *delivery;
    char id[SIM_TEXT_MAX];      /* of the instance to be created, of the event, or of the delivery; the step's name */
    char payload[SIM_TEXT_MAX]; /* of the event; the params of an instance */
    const char *type;           /* of the event */
    bool has_id, return_existing;
    /* How the world was when it began. */
    bool existed, other_existed;
    int64_t run;
    uint64_t units, applied, faults, actions;
};

const char *sim_deed_name(enum sim_deed_kind kind);
void sim_deed_begin(struct sim_world *world, struct sim_deed *deed);
bool sim_deed_is_alone(const struct sim_world *world, const struct sim_deed *deed);
/* It is so; or, when others have come in between, it was at some time since the beginning. */
void sim_deed_check(struct sim_world *world, const struct sim_deed *deed, pawl_status status);

/* ---- Calls over HTTP (ask.c) ------------------------------------------------------------------------------------------- */

enum sim_ask_kind { SIM_ASK_DEED, SIM_ASK_RESULT, SIM_ASK_STREAM, SIM_ASK_LOOK };

struct sim_ask {
    bool is_open, is_busy; /* busy: somewhere below on the stack */
    enum sim_ask_kind kind;
    struct sim_process *process;
    pawl_http_call *call;
    struct pawl_http_request request;
    struct pawl_http_header header;
    char target[SIM_TARGET_MAX], body[SIM_TARGET_MAX];
    struct sim_deed deed;          /* of SIM_ASK_DEED */
    struct sim_instance *instance; /* of the others */
    uint64_t faults;               /* before it began */
    int64_t until_ms;              /* of a result */
    /* What the handler said. */
    int64_t again_at_ms;      /* 0: nothing yet */
    bool is_ready, was_ready; /* since it was asked last; ever */
    bool is_news;             /* its process has committed what it waits for: it must have been called */
    char mark[SIM_MARK_MAX];  /* that a stream goes on from; the last, so that it need not be cleared */
};

/* A deed, from the beginning to the first answer or "not yet".  False: there is no room for another call. */
bool sim_ask_deed(struct sim_world *world, struct sim_process *process, const struct sim_deed *deed);
void sim_ask_result(struct sim_world *world, struct sim_process *process, struct sim_instance *instance);
/* One of the open ones is asked again, or given up by its client. */
void sim_ask_act(struct sim_world *world);
/* The process is about to stop, or dead; or all is calm, and time goes on for those that wait: then all are answered. */
void sim_asks_drain(struct sim_world *world, struct sim_process *process);
void sim_asks_crash(struct sim_world *world, struct sim_process *process);
void sim_asks_finish(struct sim_world *world);
/* The process has committed these. */
void sim_asks_news(struct sim_world *world, const struct sim_process *process, struct pw_unit **units, size_t count);

/* For the others: a call that must be answered at once.  The status, and the JSON of its body in the scope. */
pawl_status sim_ask_now(struct sim_world *world, struct sim_process *process, pawl_scope *scope, const char *method,
                        const char *target, const pawl_value **out_body);
/* NULL: there is no room.  Fill in the request; then take it up. */
struct sim_ask *sim_ask_new(struct sim_world *world, struct sim_process *process, enum sim_ask_kind kind);
bool sim_ask_take_up(struct sim_ask *ask);
/* The process must be held on the stack until the response was looked at.  False: not yet, or it is dead by now. */
bool sim_ask_go(struct sim_world *world, struct sim_ask *ask, const struct pawl_http_response **out_response);
void sim_ask_free(struct sim_ask *ask);
/* Of any response but a stream: checks it, and says what it means. */
pawl_status sim_response_status(const struct sim_world *world, const struct sim_ask *ask, pawl_scope *scope,
                                const struct pawl_http_response *response, const pawl_value **out_body);

/* ---- Streams (follow.c) ------------------------------------------------------------------------------------------------ */

/* A step as it was told. */
struct sim_told_step {
    bool is_told;
    enum pawl_step_status status;
    int64_t attempts;
};

/* A client that follows an instance, over reconnects. */
struct sim_follower {
    struct sim_instance *instance; /* NULL: there is none */
    struct sim_ask *ask;           /* NULL: not connected */
    char mark[SIM_MARK_MAX];       /* of the last event that it heard; "": none */
    int64_t run;                   /* that it is told of; 0: none yet */
    int64_t first_run;             /* of the instance when it first connected */
    int64_t lines;                 /* of the run, told so far */
    bool has_status, has_ended;
    enum pawl_instance_status status; /* of the run, as told last */
    struct sim_told_step steps[SIM_STEPS_MAX];
};

void sim_follow_begin(struct sim_world *world, struct sim_instance *instance);
/* One of them connects, or reads what is there, or loses its connection. */
void sim_follow_act(struct sim_world *world);
/* Its process stops: it is told what there is, and the stream ends. */
void sim_follow_drain(struct sim_world *world, struct sim_ask *ask);
void sim_follow_lost(struct sim_world *world, const struct sim_ask *ask);
/* All is calm: every one of them hears everything. */
void sim_follow_finish(struct sim_world *world);

/* ---- Looks (looks.c) --------------------------------------------------------------------------------------------------- */

/* At one instance, its history, or a list, over HTTP, against the model. */
void sim_look_act(struct sim_world *world, struct sim_process *process);
/* At every instance and its history, directly. */
void sim_look_all(struct sim_world *world);

/* For whoever reads an answer: is this text there, or, when "" is expected, none?  Is this JSON, or none? */
bool sim_shows_text(const pawl_value *shown, const char *path, const char *expected);
bool sim_shows_json(pawl_scope *scope, const pawl_value *shown, const char *path, const char *stored);

/* ---- Hooks as actors (courier.c) --------------------------------------------------------------------------------------- */

void sim_courier_register(pawl_engine *engine, struct sim_process *process, int position);
/* The unit is durable, and the process will hear of it: it may have claimed a delivery. */
void sim_courier_claimed(struct sim_process *process, const struct pw_unit *unit);
/* A process delivers what is due, or somebody looks at the deliveries, or sends one again. */
void sim_courier_act(struct sim_world *world);
/* All is calm: every delivery is made, or fails for good. */
void sim_courier_finish(struct sim_world *world);

#endif
