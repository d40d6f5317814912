/* lines.c - see lines.h.
 *
 * turn->said holds the lines that are not recorded yet, in order, each with the place where it was written.  A lane
 * that moves on takes its lines along (change_place()), so the lines of a lane are those at its present place.
 * turn->spoken counts the lines of each place, so that a later pass knows which of its lines are new. */
#include "turn/lines.h"

#include "service/rows.h"
#include "turn/boundary.h"

uint64_t pw_place_behind(uint64_t place, uint64_t what)
{
    uint64_t mixed = (place ^ what) * UINT64_C(0x9e3779b97f4a7c15) + place;
    mixed = (mixed ^ (mixed >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed ^= mixed >> 32;
    return mixed != 0 ? mixed : PW_PLACE_FIRST; /* 0 means that a line goes with any unit */
}

/* The number of lines written at a place. */
struct spoken {
    uint64_t place;
    size_t count;
};

bool pw_lines_count(pawl_lane *lane, bool *out_is_new)
{
    pawl_turn *turn = lane->turn;
    struct spoken *spoken =
        pw_table_find(&turn->spoken, (struct pw_text){ (const char *)&lane->place, sizeof lane->place });
    if (spoken == NULL) {
        spoken = pw_arena_zero(&turn->arena, sizeof *spoken);
        if (spoken == NULL)
            return false;
        spoken->place = lane->place;
        struct pw_text key = { (const char *)&spoken->place, sizeof spoken->place };
        if (!pw_table_add(&turn->spoken, key, spoken))
            return false;
    }
    lane->said++;
    *out_is_new = lane->said > spoken->count;
    if (*out_is_new)
        spoken->count = lane->said;
    return true;
}

void pw_lines_forget(pawl_turn *turn)
{
    turn->said = (struct pw_log_list){ NULL, NULL };
    pw_table_clear(&turn->spoken);
}

void pw_lines_say(pawl_lane *lane, struct pw_log_line *line)
{
    line->place = lane->place;
    pw_log_append(&lane->turn->said, line);
}

static void change_place(pawl_turn *turn, uint64_t from_place, uint64_t to_place)
{
    for (struct pw_log_line *line = turn->said.first; line != NULL; line = line->next)
        if (line->place == from_place)
            line->place = to_place;
}

void pw_lines_move(pawl_lane *lane, uint64_t place)
{
    change_place(lane->turn, lane->place, place);
    lane->place = place;
    lane->said = 0;
}

void pw_lines_bring(pawl_lane *lane, uint64_t from_place)
{
    change_place(lane->turn, from_place, lane->place);
}

void pw_lines_pass(pawl_lane *lane, const struct pw_step *step)
{
    pw_lines_move(lane, pw_place_behind(lane->place, (uintptr_t)step));
    if (step->row.seq > lane->seq_met)
        lane->seq_met = step->row.seq;
}

/* The lane that wrote the line: this one, or one that it descends from, before the fork.  NULL: another lane. */
static const pawl_lane *speaker_of(const pawl_lane *lane, const struct pw_log_line *line)
{
    while (lane != NULL && lane->place != line->place)
        lane = lane->joined ? NULL : lane->parent; /* after the join the parent has gone on */
    return lane;
}

/* Takes the lines of the lane, and of the lanes that it descends from, out of turn->said. */
static struct pw_log_list take(const pawl_lane *lane)
{
    struct pw_log_list taken = { NULL, NULL }, left = { NULL, NULL };
    for (struct pw_log_line *line = lane->turn->said.first, *next; line != NULL; line = next) {
        next = line->next;
        pw_log_append(speaker_of(lane, line) != NULL ? &taken : &left, line);
    }
    lane->turn->said = left;
    return taken;
}

/* True if an earlier turn of this run recorded the step. */
static bool was_recorded(const pawl_turn *turn, const struct pw_step *step)
{
    return step->in_store && pw_step_is_replay(turn->history, step) && step->row.seq > turn->kept_seq;
}

/* True if the history has a recorded step that lies ahead of the lane and its branches. */
static bool has_been_further(const pawl_lane *lane)
{
    const pawl_turn *turn = lane->turn;
    for (const struct pw_step *step = turn->history->first; step != NULL; step = step->next) {
        bool is_ahead = step->row.seq > lane->seq_met && step->reached_pass != turn->history->pass;
        if (is_ahead && was_recorded(turn, step) && !pw_step_is_dropped(&step->row))
            return true;
    }
    return false;
}

void pw_lines_meet(const pawl_lane *lane, const struct pw_step *step)
{
    if (!was_recorded(lane->turn, step))
        return;
    struct pw_log_list replays = take(lane);
    for (struct pw_log_line *line = replays.first; line != NULL; line = line->next) {
        line->row.is_replay = true;
        line->place = 0;
    }
    pw_log_join(&lane->turn->logs, &replays);
}

void pw_lines_take(const pawl_lane *lane, struct pw_log_list *lines)
{
    struct pw_log_list taken = take(lane);
    for (struct pw_log_line *line = taken.first; line != NULL; line = line->next) {
        const pawl_lane *speaker = speaker_of(lane, line);
        if (speaker != lane && speaker->parent == NULL && has_been_further(speaker))
            line->row.is_replay = true;
    }
    pw_log_join(lines, &taken);
}

void pw_lines_take_all(pawl_turn *turn, struct pw_log_list *lines)
{
    pw_log_join(lines, &turn->said);
    turn->said = (struct pw_log_list){ NULL, NULL };
}

void pw_lines_hand_back(pawl_turn *turn, struct pw_log_list *lines)
{
    struct pw_log_list logs = { NULL, NULL }, said = { NULL, NULL };
    for (struct pw_log_line *line = lines->first, *next; line != NULL; line = next) {
        next = line->next;
        pw_log_append(line->place != 0 ? &said : &logs, line);
    }
    pw_log_join(&logs, &turn->logs);
    pw_log_join(&said, &turn->said);
    turn->logs = logs;
    turn->said = said;
}
