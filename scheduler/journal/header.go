package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

// Version is the version of the journal format that this package writes. It can also read version 1, whose lines
// have no hashes and which has no end line.
const Version = 2

// A Header describes the run of a journal: its policy, settings, cluster and start.
type Header struct {
	Tool     string // program that wrote the journal, with its version
	Policy   string
	Settings []Setting // settings of the policy, in display order
	Seed     uint64
	Start    time.Time // time 0 of the records; UTC when read
	Round    time.Duration
	// Cluster has the nodes at the start and, with tenure Rented, the nodes that can be rented.
	Cluster *cluster.Cluster
	// From is 0, except in a later part of a journal in several files: there it is the offset of the byte after this
	// line in the whole journal.
	From int64
}

// A Setting is one option of the run's policy.
type Setting struct{ Name, Value string }

type headerLine struct {
	Version  int         `json:"oxj"`
	Tool     string      `json:"tool"`
	Policy   string      `json:"policy"`
	Settings [][2]string `json:"settings"`
	Seed     uint64      `json:"seed"`
	Start    time.Time   `json:"start"`
	Round    Seconds     `json:"round"`
	Nodes    []nodeLine  `json:"nodes"`
	From     int64       `json:"from,omitzero"`
}

func (h *Header) validate() error {
	var errs []error
	if h.Start.IsZero() {
		errs = append(errs, errors.New("no start time"))
	}
	if h.Round <= 0 {
		errs = append(errs, fmt.Errorf("round length is %v, want more than 0", h.Round))
	}
	if h.Cluster == nil {
		errs = append(errs, errors.New("no cluster"))
	}
	if h.From < 0 {
		errs = append(errs, fmt.Errorf("part from byte %d, want at least 0", h.From))
	}
	return errors.Join(errs...)
}

func (h *Header) line() headerLine {
	settings := make([][2]string, len(h.Settings))
	for i, s := range h.Settings {
		settings[i] = [2]string{s.Name, s.Value}
	}
	return headerLine{Version, h.Tool, h.Policy, settings, h.Seed, h.Start.UTC(), Seconds(h.Round), nodeLines(h.Cluster), h.From}
}

func parseVersion(text []byte) (int, error) {
	var header struct {
		Version *int `json:"oxj"`
	}
	if err := json.Unmarshal(text, &header); err != nil {
		return 0, fmt.Errorf("got %.40q, want a journal's header: %w", text, err)
	}
	if header.Version == nil {
		return 0, fmt.Errorf("got %.40q, want a journal's header with key %q", text, "oxj")
	}
	if v := *header.Version; v < 1 || v > Version {
		return 0, fmt.Errorf("format version %d, want 1 or %d", v, Version)
	}
	return *header.Version, nil
}

func parseHeader(text []byte) (Header, error) {
	var l headerLine
	if err := unmarshal(text, &l); err != nil {
		return Header{}, fmt.Errorf("header: %w", err)
	}
	nodes, err := makeCluster(l.Nodes)
	if err != nil {
		return Header{}, fmt.Errorf("header: %w", err)
	}
	h := Header{Tool: l.Tool, Policy: l.Policy, Seed: l.Seed, Start: l.Start.UTC(), Round: time.Duration(l.Round), Cluster: nodes, From: l.From}
	for _, s := range l.Settings {
		h.Settings = append(h.Settings, Setting{s[0], s[1]})
	}
	if err := h.validate(); err != nil {
		return Header{}, fmt.Errorf("header: %w", err)
	}
	return h, nil
}
