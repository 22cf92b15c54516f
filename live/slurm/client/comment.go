package client

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// prefix begins the job comments that are addressed to the scheduler.
const prefix = "oxgang:"

// A part states what the scheduler may do with a job.
type part uint8

// Each part includes the parts before it.
const (
	None    part = iota // nothing
	order               // change its place among waiting jobs
	Elastic             // resize it
)

var partNames = [...]string{"none", "order", "elastic"}

func (p part) String() string { return partNames[p] }

// A Request is what a user's job comment asks the scheduler to do.
type Request struct {
	Part     part
	Min, Max int       // GPUs on all nodes; 1 ≤ Min ≤ Max
	Class    job.Class // class of similar jobs; empty: its own
	Type     string    // allowed GPU types joined by "+"; empty: any
	Token    string    // digest of the program's token (NewToken); empty: none
}

// ParseRequest parses a job comment. A comment without Prefix gives the zero Request.
func ParseRequest(text string) (Request, error) {
	body, ours := strings.CutPrefix(text, prefix)
	if !ours {
		return Request{}, nil
	}
	part, words, _ := strings.Cut(body, ";")
	var r Request
	switch part {
	case "order":
		r.Part = order
	case "elastic":
		r.Part = Elastic
	default:
		return Request{}, fmt.Errorf("comment %q: part %q, want order or elastic", text, part)
	}
	err := each(words, r.set)
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return Request{}, fmt.Errorf("comment %q: %w", text, err)
	}
	return r, nil
}

func each(words string, set func(name, value string) error) error {
	seen := map[string]bool{}
	for word := range strings.SplitSeq(words, ";") {
		if words == "" {
			return nil
		}
		name, value, _ := strings.Cut(word, "=")
		err := set(name, value)
		if seen[name] {
			err = errors.New("given twice")
		}
		if err != nil {
			return fmt.Errorf("%q: %w", word, err)
		}
		seen[name] = true
	}
	return nil
}

func (r *Request) set(name, value string) (err error) {
	switch name {
	case "min":
		r.Min, err = numberIn(value, 1, mostGPUs)
	case "max":
		r.Max, err = numberIn(value, 1, mostGPUs)
	case "class":
		if r.Class = job.Class(value); value == "" {
			err = errors.New("want a name")
		}
	case "type":
		if r.Type = value; slices.Contains(strings.Split(value, "+"), "") {
			err = errors.New("want GPU types joined by +")
		}
	case "token":
		r.Token, err = value, checkDigest(value)
	default:
		err = errors.New("want min, max, class, type or token")
	}
	return err
}

func numberIn(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("want a whole number from %d to %d", least, most)
	}
	return n, nil
}

func (r *Request) check() error {
	switch sized := r.Min != 0 || r.Max != 0 || r.Type != "" || r.Token != ""; {
	case r.Part != Elastic && sized:
		return errors.New("min, max, type and token are for elastic jobs only")
	case r.Part == Elastic && (r.Min == 0 || r.Max < r.Min):
		return fmt.Errorf("min=%d and max=%d, want both, and max at least min", r.Min, r.Max)
	}
	return nil
}

// String formats the request for ParseRequest, or returns "" if the job does not ask to be managed.
func (r Request) String() string {
	if r.Part == None {
		return ""
	}
	text := prefix + r.Part.String()
	if r.Part == Elastic {
		text += fmt.Sprintf(";min=%d;max=%d", r.Min, r.Max)
	}
	if r.Class != "" {
		text += ";class=" + string(r.Class)
	}
	if r.Type != "" {
		text += ";type=" + r.Type
	}
	if r.Token != "" {
		text += ";token=" + r.Token
	}
	return text
}

// GPUTypes returns the GPU types that the job allows; none: any.
func (r Request) GPUTypes() []cluster.GPUType {
	if r.Type == "" {
		return nil
	}
	var all []cluster.GPUType
	for t := range strings.SplitSeq(r.Type, "+") {
		all = append(all, cluster.GPUType(t))
	}
	return all
}
