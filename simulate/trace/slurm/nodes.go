package slurm

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// NodesCommand is the command that prints the nodes of a Slurm cluster, for Nodes.
const NodesCommand = "scontrol show node -o"

type shape struct {
	gpuType string
	gpus    int
}

// unnamed is the type of GPUs without a type in Slurm's configuration.
const unnamed = "gpu"

const mostGPUs = 1024

// Nodes returns the nodes with GPUs as text for a configuration: "a100:3x8,h100:1x4". It reads the output of scontrol
// show node, or of sinfo with columns NODES and GRES. file names the input in errors. It writes to notes which nodes
// are simulated differently.
func Nodes(r io.Reader, file string, notes io.Writer) (string, error) {
	o := parse.Options{File: file}.Filled()
	n := nodes{count: map[shape]int{}, notes: notes}
	in := parse.NewLines(r, o)
	for {
		line, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = n.line(strings.Fields(string(line)))
		}
		if err != nil {
			return "", placed(err, o, in.Number)
		}
	}
	if len(n.count) == 0 {
		return "", &parse.Error{File: o.File, Problem: "no nodes with GPUs, want what this prints: " + NodesCommand}
	}
	return n.String(), nil
}

func placed(err error, o parse.Options, line int) error {
	if _, ok := errors.AsType[*parse.Error](err); ok {
		return err
	}
	return &parse.Error{File: o.File, Line: line, Problem: err.Error()}
}

type nodes struct {
	count   map[shape]int
	columns []string // of a table of sinfo
	name    string   // of the last node; empty: unknown
	notes   io.Writer
}

func (n *nodes) line(words []string) error {
	switch {
	case len(words) == 0:
		return nil
	case n.columns != nil:
		return n.row(words)
	case slices.Contains(words, "GRES"):
		return n.header(words)
	}
	for _, word := range words {
		if name, ok := strings.CutPrefix(word, "NodeName="); ok {
			n.name = name
		}
		if list, ok := strings.CutPrefix(word, "Gres="); ok {
			return n.add(list, 1)
		}
	}
	return nil
}

func (n *nodes) header(words []string) error {
	if !slices.Contains(words, "NODES") || slices.Contains(words, "PARTITION") {
		return fmt.Errorf("columns %s, want NODES and GRES without PARTITION, because nodes may be in several: sinfo -o \"%%D %%G\"", strings.Join(words, " "))
	}
	n.columns = words
	return nil
}

func (n *nodes) row(words []string) error {
	if len(words) != len(n.columns) {
		return fmt.Errorf("%d fields, want %d", len(words), len(n.columns))
	}
	text := words[slices.Index(n.columns, "NODES")]
	many, err := strconv.Atoi(text)
	if err != nil || many < 1 || many > parse.MaxCount {
		return fmt.Errorf("NODES %q, want a whole number from 1 to %d", text, parse.MaxCount)
	}
	return n.add(words[slices.Index(n.columns, "GRES")], many)
}

// add adds nodes with a list of resources. GPUs of several types on one node become a node for each type, because a
// simulated node has one type.
func (n *nodes) add(list string, many int) error {
	var shapes []shape
	parts := resourceList{}
	for item := range strings.SplitSeq(withoutSockets(list), ",") {
		l, want := parseGRES(item)
		switch {
		case want != "":
			return fmt.Errorf("GRES %s, want %s", parse.Quote(list), want)
		case l.gpus > mostGPUs:
			return fmt.Errorf("GRES %s, want at most %d GPUs", parse.Quote(list), mostGPUs)
		case l.parts != "":
			parts.addPart(l.parts)
		case l.gpus > 0:
			gpuType := unnamed
			if len(l.types) == 1 {
				gpuType = l.types[0]
			}
			shapes = joined(shapes, shape{gpuType, l.gpus})
		}
	}
	for _, s := range shapes {
		n.count[s] += many
	}
	n.note(shapes, parts.parts, many)
	return nil
}

func joined(shapes []shape, s shape) []shape {
	if i := slices.IndexFunc(shapes, func(o shape) bool { return o.gpuType == s.gpuType }); i >= 0 {
		shapes[i].gpus += s.gpus
		return shapes
	}
	return append(shapes, s)
}

func (n *nodes) note(shapes []shape, parts string, many int) {
	which := fmt.Sprintf("%d nodes", many)
	if n.name != "" {
		which = "node " + n.name
	}
	if len(shapes) > 1 {
		var types []string
		for _, s := range shapes {
			types = append(types, fmt.Sprintf("%d %s", s.gpus, s.gpuType))
		}
		fmt.Fprintf(n.notes, "  %s with GPUs of several types (%s), simulated as one node for each type\n", which, strings.Join(types, ", "))
	}
	if parts != "" {
		fmt.Fprintf(n.notes, "  %s with parts of GPUs (%s), simulated without them\n", which, parts)
	}
}

func (n *nodes) String() string {
	var parts []string
	for s, many := range n.count {
		parts = append(parts, fmt.Sprintf("%s:%dx%d", s.gpuType, many, s.gpus))
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

type places struct {
	id, name, user, partition, qos, state, reason, reservation, cluster int
	submit, eligible, start, end, elapsed, elapsedRaw                   int
	limit, limitRaw, priority                                           int
	reqTRES, allocTRES, reqGRES, allocGRES, nodes                       int
}

func placesOf(r *parse.Row) places {
	at := r.Place
	return places{
		id: at("jobid"), name: at("jobname"), user: at("user"), partition: at("partition"), qos: at("qos"),
		state: at("state"), reason: at("reason"), reservation: at("reservation"), cluster: at("cluster"),
		submit: at("submit"), eligible: at("eligible"), start: at("start"), end: at("end"), elapsed: at("elapsed"), elapsedRaw: at("elapsedraw"),
		limit: at("timelimit"), limitRaw: at("timelimitraw"), priority: at("priority"),
		reqTRES: at("reqtres"), allocTRES: at("alloctres"), reqGRES: at("reqgres"), allocGRES: at("allocgres"), nodes: at("nnodes"),
	}
}
