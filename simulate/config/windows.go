package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/sim"
)

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
