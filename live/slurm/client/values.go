package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

type number struct {
	value         float64
	set, infinite bool
}

func (n *number) UnmarshalJSON(text []byte) error {
	*n = number{}
	switch {
	case string(text) == "null":
		return nil
	case len(text) > 0 && text[0] == '{':
		var o struct {
			Set      bool    `json:"set"`
			Infinite bool    `json:"infinite"`
			Number   float64 `json:"number"`
		}
		if err := json.Unmarshal(text, &o); err != nil {
			return err
		}
		n.infinite = o.Infinite
		if n.set = o.Set; o.Set {
			n.value = o.Number
		}
	default:
		n.set = true
		if err := json.Unmarshal(text, &n.value); err != nil {
			return err
		}
	}
	switch n.value {
	case noValue:
		*n = number{}
	case infinite:
		*n = number{infinite: true}
	}
	return nil
}

// The values with which Slurm's 32-bit fields mean no number.
const (
	noValue  = 0xfffffffe
	infinite = 0xffffffff
)

const (
	firstSecond = 1e8
	lastSecond  = 1 << 33
	mostCount   = 1 << 31
	mostMinutes = 100 * 366 * 24 * 60
)

func (n number) in(what string, low, high int64) (int64, error) {
	if x := int64(n.value); float64(x) == n.value && x >= low && x <= high {
		return x, nil
	}
	return 0, fmt.Errorf("%w: %s %v, want a whole number from %d to %d", ErrMalformed, what, n.value, low, high)
}

func (n number) at(what string) (time.Time, error) {
	if n.value == 0 {
		return time.Time{}, nil
	}
	s, err := n.in(what+" in seconds since 1970", firstSecond, lastSecond)
	return time.Unix(s, 0).UTC(), err
}

type texts []string

// UnmarshalJSON parses a list in any of these forms; a string is a list separated by commas.
func (w *texts) UnmarshalJSON(text []byte) error {
	*w = nil
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(w))
	}
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	*w = listed(s)
	return nil
}

func listed(s string) []string {
	if s == "" || s == "(null)" || s == "N/A" || s == "ALL" {
		return nil
	}
	return strings.Split(s, ",")
}

func upper(all []string) []string {
	var up []string
	for _, w := range all {
		up = append(up, strings.ToUpper(w))
	}
	return up
}

type checker struct{ err error }

func (c *checker) integer(n number, what string, low, high int64) int64 {
	x, err := n.in(what, low, high)
	c.keep(err)
	return x
}

func (c *checker) count(n number, what string) int { return int(c.integer(n, what, 0, mostCount)) }

func (c *checker) at(n number, what string) time.Time {
	t, err := n.at(what)
	c.keep(err)
	return t
}

func (c *checker) nodes(list string) []string {
	all, err := nodenames(list)
	c.keep(err)
	return all
}

func (c *checker) gpus(list string) GPUs {
	g, err := ParseGPUs(list)
	c.keep(err)
	return g
}

func (c *checker) of(kind, name string) error {
	if c.err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", kind, name, c.err)
}

func convert[S, T any](all []S, one func(*S) (T, error)) ([]T, error) {
	found := make([]T, 0, len(all))
	for i := range all {
		v, err := one(&all[i])
		if err != nil {
			return nil, err
		}
		found = append(found, v)
	}
	return found, nil
}

func (c *checker) keep(err error) {
	if c.err == nil {
		c.err = err
	}
}
