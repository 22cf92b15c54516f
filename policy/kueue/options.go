package kueue

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
)

// A ClusterQueue is a queue of Kueue with its quotas. A job belongs to it if job.Spec.Queue is its name.
type ClusterQueue struct {
	Name    string
	Cohort  string // queues of the same cohort borrow quota from each other; empty: no cohort
	Strict  bool   // StrictFIFO: a job without quota blocks those behind it
	Flavors []Flavor
}

// A Flavor is a quota of GPUs on one kind of node.
type Flavor struct {
	Name    string
	Types   []cluster.GPUType // GPU types of the flavor's nodes; nil: all
	Nominal int               // quota in GPUs
	Borrow  int               // GPUs that may be borrowed in addition; below 0: no limit
	Lend    int               // GPUs of Nominal that may be lent; below 0: all
}

func (f *Flavor) has(t cluster.GPUType) bool { return f.Types == nil || slices.Contains(f.Types, t) }

// ParseQueues parses a description of queues:
//
//	team-a@pool big=a100:24+16-8 small=t4|l4:16; team-b@pool big=a100:24; team-c! big=a100:16
//
// After a queue's name, @ adds its cohort and ! selects StrictFIFO. Each flavor lists its GPU types, or * for all,
// and its quota in GPUs. The numbers after + and - limit how many GPUs it may borrow and lend; without them there
// is no limit.
func ParseQueues(text string) ([]ClusterQueue, error) {
	var all []ClusterQueue
	var errs []error
	for part := range strings.SplitSeq(text, ";") {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		q, err := parseQueue(words)
		if err == nil && slices.ContainsFunc(all, func(o ClusterQueue) bool { return o.Name == q.Name }) {
			err = errors.New("appears twice")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("queue %q: %w", words[0], err))
			continue
		}
		all = append(all, q)
	}
	return all, errors.Join(errs...)
}

func parseQueue(words []string) (q ClusterQueue, err error) {
	name, strict := strings.CutSuffix(words[0], "!")
	q.Strict = strict
	if q.Name, q.Cohort, _ = strings.Cut(name, "@"); q.Name == "" {
		return q, errors.New("has no name; write team-a@cohort, for example")
	}
	for _, word := range words[1:] {
		f, err := parseFlavor(word)
		if err == nil && slices.ContainsFunc(q.Flavors, func(o Flavor) bool { return o.Name == f.Name }) {
			err = errors.New("appears twice")
		}
		if err != nil {
			return q, fmt.Errorf("flavor %q: %w", word, err)
		}
		q.Flavors = append(q.Flavors, f)
	}
	return q, nil
}

var errFlavor = errors.New("want name=type|type:GPUs+borrowable-lendable, for example big=a100:24+16-8")

func parseFlavor(word string) (f Flavor, err error) {
	name, rest, named := strings.Cut(word, "=")
	types, amount, counted := strings.Cut(rest, ":")
	if !named || !counted || name == "" || types == "" {
		return f, errFlavor
	}
	f = Flavor{Name: name, Borrow: -1, Lend: -1}
	if types != "*" {
		for t := range strings.SplitSeq(types, "|") {
			f.Types = append(f.Types, cluster.GPUType(t))
		}
	}
	amount, lend, lends := strings.Cut(amount, "-")
	amount, borrow, borrows := strings.Cut(amount, "+")
	if f.Nominal, err = gpus(amount); err == nil && borrows {
		f.Borrow, err = gpus(borrow)
	}
	if err == nil && lends {
		f.Lend, err = gpus(lend)
	}
	return f, err
}

func gpus(text string) (int, error) {
	const most = 1 << 30
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0, errFlavor
	}
	return n, nil
}

// Format writes queues in the form that ParseQueues reads.
func Format(queues []ClusterQueue) string {
	all := make([]string, len(queues))
	for i := range queues {
		all[i] = queues[i].String()
	}
	return strings.Join(all, "; ")
}

// String writes a queue in the form that ParseQueues reads.
func (q *ClusterQueue) String() string {
	words := []string{q.Name}
	if q.Cohort != "" {
		words[0] += "@" + q.Cohort
	}
	if q.Strict {
		words[0] += "!"
	}
	for i := range q.Flavors {
		words = append(words, q.Flavors[i].String())
	}
	return strings.Join(words, " ")
}

// String writes a flavor in the form that ParseQueues reads.
func (f *Flavor) String() string {
	types := "*"
	if f.Types != nil {
		names := make([]string, len(f.Types))
		for i, t := range f.Types {
			names[i] = string(t)
		}
		types = strings.Join(names, "|")
	}
	text := fmt.Sprintf("%s=%s:%d", f.Name, types, f.Nominal)
	if f.Borrow >= 0 {
		text += fmt.Sprintf("+%d", f.Borrow)
	}
	if f.Lend >= 0 {
		text += fmt.Sprintf("-%d", f.Lend)
	}
	return text
}
