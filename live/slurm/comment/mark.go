package comment

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Mark is what the scheduler writes down of a job in its AdminComment. The zero value is that of
// a job which it has not touched.
type Mark struct {
	Ordered    bool  // the job's nice value is the scheduler's
	Nice       int   // that the job had before, if Ordered
	Held       bool  // the scheduler holds the job, or is about to
	Stopping   bool  // the scheduler is stopping the present start of the job
	Silent     bool  // the job's program has a token, and has said nothing for long
	Generation int   // the start of the job that was planned last, from 1; 0: none was
	Epoch      int64 // of the scheduler that wrote last; 0: none has
	// Agents is the folder in which the job's script finds that scheduler's agent API; empty: it has none.
	Agents string
}

// mostNice is the largest nice value that Slurm takes. Source: scontrol(1), Nice.
const mostNice = 2147483645

// ErrForeign is returned, wrapped, for an AdminComment that somebody else has written.
var ErrForeign = errors.New("its AdminComment is not the scheduler's")

// ParseMark returns what an AdminComment says. It returns ErrForeign, wrapped, for a text that the
// scheduler did not write; an empty one is the zero Mark.
func ParseMark(text string) (Mark, error) {
	if text == "" {
		return Mark{}, nil
	}
	words, ours := strings.CutPrefix(text, Prefix)
	if !ours {
		return Mark{}, fmt.Errorf("%w: %q", ErrForeign, text)
	}
	var m Mark
	if err := each(words, m.set); err != nil {
		return Mark{}, fmt.Errorf("%w: %q: %w", ErrForeign, text, err)
	}
	return m, nil
}

func (m *Mark) set(name, value string) (err error) {
	switch name {
	case "nice":
		m.Ordered = true
		m.Nice, err = number(value, -mostNice, mostNice)
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
		m.Generation, err = number(value, 1, mostNice)
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

// folders are the names of folders that a mark can have: a script reads them out of scontrol's line.
var folders = regexp.MustCompile(`^/[A-Za-z0-9/._-]+$`)

// CheckFolder returns an error for a folder that a mark cannot name.
func CheckFolder(path string) error {
	if !folders.MatchString(path) {
		return fmt.Errorf("folder %q, want an absolute path of letters, digits and . _ - /", path)
	}
	return nil
}

// String returns the mark as ParseMark reads it; empty for the zero Mark.
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
	return Prefix + strings.Join(words, ";")
}
