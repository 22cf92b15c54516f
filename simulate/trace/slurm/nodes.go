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

// A shape is the GPU type and number of nodes.
type shape struct {
	gpuType string
	gpus    int
}

// unnamed is the type of GPUs without a type in Slurm's configuration.
const unnamed = "gpu"

const mostGPUs = 1024

// Nodes returns the nodes with GPUs as text for a configuration, "a100:3x8,h100:1x4". It reads output of
// scontrol show node, with and without -o, and of sinfo with columns NODES and GRES. file names the input in
// errors of type *parse.Error.
func Nodes(r io.Reader, file string) (string, error) {
	o := parse.Options{File: file}.Filled()
	n := nodes{count: map[shape]int{}}
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

// nodes counts nodes by shape.
type nodes struct {
	count   map[shape]int
	columns []string // of a table of sinfo
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

func (n *nodes) add(list string, many int) error {
	l, want := parseGRES(list)
	switch {
	case want != "":
		return fmt.Errorf("GRES %s, want %s", parse.Quote(list), want)
	case l.gpus > mostGPUs:
		return fmt.Errorf("GRES %s, want at most %d GPUs", parse.Quote(list), mostGPUs)
	case len(l.types) > 1:
		return fmt.Errorf("GRES %s, want GPUs of one type on a node; describe similar nodes with --cluster", parse.Quote(list))
	case l.gpus > 0:
		gpuType := unnamed
		if len(l.types) == 1 {
			gpuType = l.types[0]
		}
		n.count[shape{gpuType, l.gpus}] += many
	}
	return nil
}

func (n *nodes) String() string {
	var parts []string
	for s, many := range n.count {
		parts = append(parts, fmt.Sprintf("%s:%dx%d", s.gpuType, many, s.gpus))
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}
