/* chance.h - every choice of a simulated world comes from one number, its seed: SplitMix64. */
#ifndef SIM_CHANCE_H
#define SIM_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

struct sim_chance {
    uint64_t state;
};

static inline uint64_t sim_mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94D049BB133111EB);
    return value ^ (value >> 31);
}

static inline uint64_t sim_draw(struct sim_chance *chance)
{
    chance->state += UINT64_C(0x9E3779B97F4A7C15);
    return sim_mix(chance->state);
}

/* 0 to count-1. */
static inline int sim_below(struct sim_chance *chance, int count)
{
    return (int)(sim_draw(chance) % (uint64_t)count);
}

static inline int64_t sim_between(struct sim_chance *chance, int64_t low, int64_t high)
{
    return low + (int64_t)(sim_draw(chance) % (uint64_t)(high - low + 1));
}

/* In so many of a thousand cases. */
static inline bool sim_happens(struct sim_chance *chance, int of_1000)
{
    return sim_below(chance, 1000) < of_1000;
}

#endif
