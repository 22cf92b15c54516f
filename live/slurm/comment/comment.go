// Package comment reads and writes the two comments of a Slurm job that the scheduler uses, and makes
// the batch scripts of elastic jobs and the tokens of their programs.
//
// The user's comment says whether a job takes part. It begins with "oxgang:"; words follow, with
// ";" between them:
//
//	oxgang:order                             its place among the waiting jobs may be exchanged
//	oxgang:elastic;min=2;max=16;class=bert   also its number of GPUs may be changed, by stopping it
//	oxgang:elastic;min=2;max=16;type=a100+h100   and it runs only on GPUs of these types
//	oxgang:elastic;min=2;max=16;token=...        and its program speaks with a token of this digest
//
// The administrator's comment (AdminComment), which users cannot write, has what the scheduler must
// find again when it is started anew, and what it needs to undo its changes: a Mark.
package comment

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Prefix is how a comment begins that is meant for the scheduler, or written by it.
const Prefix = "oxgang:"

// A Part is what the scheduler may do with a job.
type Part uint8

// The parts, each of which allows what the ones before it do.
const (
	None    Part = iota // the job only takes nodes
	Order               // its place among the waiting jobs may be exchanged
	Elastic             // it may be stopped, and started with another number of GPUs
)

var partNames = [...]string{"none", "order", "elastic"}

// String returns the part as comments name it.
func (p Part) String() string { return partNames[p] }

// A Request is what a user's comment asks for. The zero value is that of a job that takes no part.
type Request struct {
	Part     Part
	Min, Max int       // GPUs of an elastic job, of all nodes; at least 1, and Max at least Min
	Class    job.Class // of jobs that learn from each other; empty: its own
	Type     string    // of GPU that an elastic job may run on, or several with "+" between them; empty: any
	Token    string    // digest of the token of an elastic job's program (NewToken); empty: it has none
}

// mostGPUs bounds the GPUs that a comment may name.
const mostGPUs = 1 << 20

// ParseRequest returns what a user's comment asks for. A text without Prefix is the comment of a job
// that takes no part. It returns an error that names the word for one that is unknown, repeated, or
// not a number in its range.
func ParseRequest(text string) (Request, error) {
	body, ours := strings.CutPrefix(text, Prefix)
	if !ours {
		return Request{}, nil
	}
	part, words, _ := strings.Cut(body, ";")
	var r Request
	switch part {
	case "order":
		r.Part = Order
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

// each calls set with the name and the value of each word of a list.
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
		r.Min, err = number(value, 1, mostGPUs)
	case "max":
		r.Max, err = number(value, 1, mostGPUs)
	case "class":
		if r.Class = job.Class(value); value == "" {
			err = errors.New("no class")
		}
	case "type":
		if r.Type = value; slices.Contains(strings.Split(value, "+"), "") {
			err = errors.New("want types with + between them")
		}
	case "token":
		r.Token, err = value, CheckDigest(value)
	default:
		err = errors.New("want min, max, class, type or token")
	}
	return err
}

func number(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("want a whole number from %d to %d", least, most)
	}
	return n, nil
}

// check returns an error for sizes that cannot be.
func (r *Request) check() error {
	switch sized := r.Min != 0 || r.Max != 0 || r.Type != "" || r.Token != ""; {
	case r.Part != Elastic && sized:
		return errors.New("min, max, type or token of a job that is not elastic")
	case r.Part == Elastic && (r.Min == 0 || r.Max < r.Min):
		return fmt.Errorf("min=%d and max=%d, want both, and max at least min", r.Min, r.Max)
	}
	return nil
}

// String returns the request as ParseRequest reads it; empty for a job that takes no part.
func (r Request) String() string {
	if r.Part == None {
		return ""
	}
	text := Prefix + r.Part.String()
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

// GPUTypes returns the types that the job may run on; none: any.
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
