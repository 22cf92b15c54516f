package main

import (
	"fmt"
	"time"
)

type usage struct {
	cpu    time.Duration // user and system
	memory int64         // bytes, peak
}

func (u usage) least(other usage) usage {
	if u == (usage{}) {
		return other
	}
	return usage{min(u.cpu, other.cpu), min(u.memory, other.memory)}
}

type comparison struct{ before, after usage }

func compare(run func(*build) (usage, error), before, after *build, runs int, limit float64) (c comparison, err error) {
	for range 3 {
		for range runs {
			if err := c.turn(run, before, after); err != nil {
				return c, err
			}
		}
		if c.within(limit) {
			break
		}
	}
	return c, nil
}

func (c *comparison) turn(run func(*build) (usage, error), before, after *build) error {
	was, err := run(before)
	if err != nil {
		return fmt.Errorf("before: %w", err)
	}
	is, err := run(after)
	if err != nil {
		return err
	}
	c.before, c.after = c.before.least(was), c.after.least(is)
	return nil
}

func (c *comparison) cpu() float64    { return float64(c.after.cpu) / float64(c.before.cpu) }
func (c *comparison) memory() float64 { return float64(c.after.memory) / float64(c.before.memory) }

func (c *comparison) within(limit float64) bool { return c.cpu() <= limit && c.memory() <= limit }

func (c *comparison) line(name string, limit float64) string {
	text := fmt.Sprintf("%-24s %9.4f %9.4f %7.2f %9.1f %9.1f %7.2f", name, c.before.cpu.Seconds(), c.after.cpu.Seconds(), c.cpu(),
		float64(c.before.memory)/1e6, float64(c.after.memory)/1e6, c.memory())
	if !c.within(limit) {
		text += "  TOO MUCH"
	}
	return text
}
