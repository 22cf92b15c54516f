package slurm

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

type resourceList struct {
	gpus     int // whole ones
	typed    int
	slices   int      // of MIG
	parts    string   // kinds of parts of GPUs: "1g.10gb", "shard", "mps"; empty: none
	types    []string // of whole GPUs, as listed; immutable
	cpus     int
	memory   int64 // bytes
	nodes    int
	numbered bool // its GPUs were numbered, not named
	per      per  // what the numbers of a GRES count for
}

type per uint8

const (
	perNode per = iota
	perJob
	perOther // tasks or sockets, whose number the log does not state
)

func (l *log) resources(r *parse.Row, at *places, rec *record) {
	for _, c := range [...]struct {
		name  string
		at    int
		known *textCache[resourceList]
		parse func(string) (resourceList, string)
		to    *resourceList
		nodes bool // the list is per node
	}{
		{"reqtres", at.reqTRES, &l.tres, parseTRES, &rec.asked, false},
		{"alloctres", at.allocTRES, &l.tres, parseTRES, &rec.had, false},
		{"reqgres", at.reqGRES, &l.gres, parseGRES, &rec.asked, true},
		{"allocgres", at.allocGRES, &l.gres, parseGRES, &rec.had, false},
	} {
		text := r.At(c.at)
		if c.to.gpus > 0 || text == "" {
			continue
		}
		list, want := c.known.of(text, c.parse)
		if want != "" {
			r.Fail(c.name, want)
			return
		}
		if c.nodes && list.per == perNode && r.At(at.nodes) != "" {
			list.gpus *= r.Count("nnodes", 0, parse.MaxCount)
		}
		if list.gpus > parse.MaxCount {
			r.Fail(c.name, fmt.Sprintf("at most %d GPUs", parse.MaxCount))
		}
		if c.to.add(list); list.numbered {
			l.o.Summary.Note("lists of numbered resources, with GPUs 1001 and 1002 read as types tesla and volta, as at MIT Supercloud")
		}
	}
	if rec.asked.gpus == 0 && rec.had.gpus == 0 && rec.asked.per == perOther {
		r.Fail("reqgres", "GPUs per node or per job, like PER_NODE:gpu:2, or a column AllocTRES")
	}
}

func (l *resourceList) add(m resourceList) {
	if l.gpus == 0 {
		l.gpus, l.types, l.per = m.gpus, m.types, m.per
	}
	if l.parts == "" {
		l.parts = m.parts
	}
	l.cpus, l.memory, l.nodes = max(l.cpus, m.cpus), max(l.memory, m.memory), max(l.nodes, m.nodes)
}

// slice matches types of MIG slices: 1g.10gb, a100_3g.20gb, nvidia_h100_1g.12gb.me.
var slice = regexp.MustCompile(`(^|[^0-9a-z])[1-9]g\.[0-9]+gb`)

// addGRES adds a resource: "gpu" (of any type), "gpu:a100", "gpu:1g.10gb", "shard", "mps:a100" or another one.
// Shards and MPS are shares of GPUs.
func (l *resourceList) addGRES(name string, n int) {
	name, kind, _ := strings.Cut(name, ":")
	switch {
	case n == 0:
	case name == "shard" || name == "mps":
		l.addPart(name)
	case name != "gpu":
	case kind == "":
		l.gpus = n
	case slice.MatchString(strings.ToLower(kind)):
		l.slices += n
		l.addPart(kind)
	default:
		if l.typed += n; !slices.Contains(l.types, kind) {
			l.types = append(l.types, strings.Clone(kind))
		}
	}
}

func (l *resourceList) addPart(kind string) {
	switch {
	case l.parts == "":
		l.parts = strings.Clone(kind)
	case !slices.Contains(strings.Split(l.parts, ", "), kind):
		l.parts += ", " + kind
	}
}

func (l *resourceList) settle() {
	l.gpus = max(l.typed, l.gpus-l.slices)
}

var wantCount = fmt.Sprintf("whole numbers from 0 to %d", parse.MaxCount)

func parseTRES(text string) (l resourceList, want string) {
	list, want := named(text)
	if want != "" {
		return l, want
	}
	l.numbered = list != text && strings.Contains(list, "gres/gpu")
	for item := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(item, "=")
		gres, isGRES := strings.CutPrefix(name, "gres/")
		var n int
		var err error
		if isGRES && countsGPUs(gres) || name == "cpu" || name == "node" {
			if n, err = count(value); err != nil {
				return l, wantCount
			}
		}
		switch {
		case isGRES:
			l.addGRES(gres, n)
		case name == "cpu":
			l.cpus = n
		case name == "node":
			l.nodes = n
		case name == "mem":
			if l.memory, err = memory(value); err != nil {
				return l, "memory like mem=64G"
			}
		}
	}
	l.settle()
	return l, ""
}

func countsGPUs(gres string) bool {
	name, _, _ := strings.Cut(gres, ":")
	return name == "gpu" || name == "shard" || name == "mps"
}

// gpuNumber is gpu as written by Slurm before 19.05 if its plugin is not loaded.
const gpuNumber = "7696487"

func parseGRES(text string) (l resourceList, want string) {
	untyped := 0
	for item := range strings.SplitSeq(withoutSockets(text), ",") {
		if scope, rest, ok := strings.Cut(item, ":"); ok && strings.HasPrefix(scope, "PER_") {
			l.per, item = perOf(scope), rest
		}
		parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(item, "gres/"), "gres:"), ":")
		if parts[0] == gpuNumber {
			parts[0] = "gpu"
		}
		if !countsGPUs(parts[0]) {
			continue
		}
		n, err := count(parts[len(parts)-1])
		kind := parts[1:max(1, len(parts)-1)]
		if err != nil && len(parts) <= 2 { // gpu and gpu:a100 mean one
			n, kind, err = 1, parts[1:], nil
		}
		if err != nil || len(kind) > 1 {
			return l, "GPUs like gpu:2 or gpu:a100:2"
		}
		if parts[0] == "gpu" && len(kind) == 0 {
			untyped += n
			continue
		}
		l.addGRES(strings.Join(append(parts[:1:1], kind...), ":"), n)
	}
	if l.gpus = untyped + l.typed; l.per == perOther {
		l.gpus = 0 // unknown
	}
	return l, ""
}

func perOf(scope string) per {
	switch scope {
	case "PER_NODE":
		return perNode
	case "PER_JOB":
		return perJob
	}
	return perOther
}

// withoutSockets removes parentheses: "gpu:2(S:0,1)" becomes "gpu:2".
func withoutSockets(text string) string {
	var b strings.Builder
	for {
		head, rest, open := strings.Cut(text, "(")
		b.WriteString(head)
		if !open {
			return b.String()
		}
		_, text, _ = strings.Cut(rest, ")")
	}
}

func count(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err == nil && (n < 0 || n > parse.MaxCount) {
		err = strconv.ErrRange
	}
	return n, err
}

func memory(text string) (int64, error) {
	const units = "KMGTP"
	shift := 20
	if i := strings.LastIndexAny(text, units); i >= 0 && i == len(text)-1 {
		shift = 10 * (strings.IndexByte(units, text[i]) + 1)
		text = text[:i]
	}
	x, err := strconv.ParseFloat(text, 64)
	if x *= float64(int64(1) << shift); err == nil && !(x >= 0 && x < 1<<52) { // rejects NaN, too
		err = strconv.ErrRange
	}
	return int64(x), err
}
