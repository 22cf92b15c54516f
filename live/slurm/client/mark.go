package client

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Mark is what the scheduler stores in a job's AdminComment. The zero value is the Mark of a job that the scheduler
// has not changed.
type Mark struct {
	Ordered    bool
	Nice       int
	Held       bool // held by the scheduler, or about to be
	Stopping   bool
	Silent     bool
	Generation int   // number of the last planned start, from 1; 0: none
	Epoch      int64 // number of the scheduler that wrote last; later ones are larger; 0: none
	// Agents is the directory of the agent API; empty: none.
	Agents string
}

// mostNice is Slurm's largest nice value. Source: scontrol(1), Nice.
const mostNice = 2147483645

// errForeign is returned for an AdminComment that the scheduler did not write.
var errForeign = errors.New("its AdminComment was not written by the scheduler")

// ParseMark parses an AdminComment; "" gives the zero Mark. It returns ErrForeign, wrapped, if the scheduler did not
// write it.
func ParseMark(text string) (Mark, error) {
	if text == "" {
		return Mark{}, nil
	}
	words, ours := strings.CutPrefix(text, prefix)
	if !ours {
		return Mark{}, fmt.Errorf("%w: %q", errForeign, text)
	}
	var m Mark
	if err := each(words, m.set); err != nil {
		return Mark{}, fmt.Errorf("%w: %q: %w", errForeign, text, err)
	}
	return m, nil
}

func (m *Mark) set(name, value string) (err error) {
	switch name {
	case "nice":
		m.Ordered = true
		m.Nice, err = numberIn(value, -mostNice, mostNice)
	case "hold":
		if m.Held = value == ""; !m.Held {
			err = errors.New("want no value")
		}
	case "stop":
		if m.Stopping = value == ""; !m.Stopping {
			err = errors.New("want no value")
		}
	case "silent":
		if m.Silent = value == ""; !m.Silent {
			err = errors.New("want no value")
		}
	case "generation":
		m.Generation, err = numberIn(value, 1, mostNice)
	case "epoch":
		if m.Epoch, err = strconv.ParseInt(value, 10, 64); err != nil || m.Epoch < 1 {
			err = errors.New("want a whole number of at least 1")
		}
	case "agents":
		m.Agents, err = value, CheckFolder(value)
	default:
		err = errors.New("want nice, hold, stop, silent, generation, epoch or agents")
	}
	return err
}

var folders = regexp.MustCompile(`^/[A-Za-z0-9/._-]+$`)

// CheckFolder returns an error if the path contains characters that a Mark cannot store.
func CheckFolder(path string) error {
	if !folders.MatchString(path) {
		return fmt.Errorf("folder %q, want an absolute path of letters, digits and . _ - /", path)
	}
	return nil
}

// String returns the mark in the form that ParseMark reads. It is "" for the zero Mark.
func (m Mark) String() string {
	var words []string
	if m.Ordered {
		words = append(words, fmt.Sprintf("nice=%d", m.Nice))
	}
	if m.Held {
		words = append(words, "hold")
	}
	if m.Stopping {
		words = append(words, "stop")
	}
	if m.Silent {
		words = append(words, "silent")
	}
	if m.Generation > 0 {
		words = append(words, fmt.Sprintf("generation=%d", m.Generation))
	}
	if m.Epoch > 0 {
		words = append(words, fmt.Sprintf("epoch=%d", m.Epoch))
	}
	if m.Agents != "" {
		words = append(words, "agents="+m.Agents)
	}
	if len(words) == 0 {
		return ""
	}
	return prefix + strings.Join(words, ";")
}
