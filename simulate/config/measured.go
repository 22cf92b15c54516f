package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/sim"
)

// A Window selects the measured jobs: First to Last, in order of submission from 0. The zero value selects all.
type Window struct{ First, Last int }

// IsZero reports whether the window selects all jobs.
func (w Window) IsZero() bool { return w == Window{} }

func (w Window) String() string {
	if w.IsZero() {
		return ""
	}
	return fmt.Sprintf("%d-%d", w.First, w.Last)
}

func parseJobs(v string) (Window, error) {
	if v == "" {
		return Window{}, nil
	}
	first, last, ok := strings.Cut(v, "-")
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if !ok || errors.Join(err1, err2) != nil || from < 0 || to <= from {
		return Window{}, fmt.Errorf(`got %q, want the first and the last of several jobs as "4000-4999", counted from 0`, v)
	}
	return Window{from, to}, nil
}

func jobRange(name, doc string) Key {
	return Key{Name: name, Doc: doc, Kind: "range", get: func(c *Config) string { return c.Window.String() }, set: func(c *Config, v string) (err error) {
		c.Window, err = parseJobs(v)
		return err
	}}
}

func restart(name, doc string) Key {
	return Key{Name: name, Doc: doc, Kind: "duration", get: func(c *Config) string {
		if c.Sim.Restart == nil {
			return ""
		}
		return c.Sim.Restart.String()
	}, set: func(c *Config, v string) error {
		c.Sim.Restart = nil
		if v == "" {
			return nil
		}
		d, err := time.ParseDuration(v)
		if err != nil {
			return fmt.Errorf(`got %q, want a duration such as "30s", or nothing`, v)
		}
		c.Sim.Restart = &d
		return nil
	}}
}

func windows(name, doc string) Key {
	return Key{Name: name, Doc: doc, Kind: "list", get: func(c *Config) string {
		parts := make([]string, len(c.Sim.Faults.Maintenance))
		for i, w := range c.Sim.Faults.Maintenance {
			parts[i] = formatWindow(w)
		}
		return strings.Join(parts, ",")
	}, set: func(c *Config, v string) error {
		c.Sim.Faults.Maintenance = nil
		for _, part := range split(v) {
			w, err := parseWindow(part)
			if err != nil {
				return err
			}
			c.Sim.Faults.Maintenance = append(c.Sim.Faults.Maintenance, w)
		}
		return nil
	}}
}

func formatWindow(w sim.Window) string {
	ids := make([]string, len(w.Nodes))
	for i, id := range w.Nodes {
		ids[i] = string(id)
	}
	return fmt.Sprintf("%s@%v-%v", strings.Join(ids, "+"), w.From, w.To)
}

func parseWindow(part string) (sim.Window, error) {
	var w sim.Window
	nodes, times, ok := strings.Cut(part, "@")
	from, to, ok2 := strings.Cut(times, "-")
	var err1, err2 error
	w.From, err1 = time.ParseDuration(from)
	w.To, err2 = time.ParseDuration(to)
	if !ok || !ok2 || nodes == "" || err1 != nil || err2 != nil {
		return w, fmt.Errorf(`got %q, want nodes and times as "t4-4-0+t4-4-1@2h-3h30m"`, part)
	}
	for id := range strings.SplitSeq(nodes, "+") {
		w.Nodes = append(w.Nodes, cluster.NodeID(id))
	}
	return w, nil
}
