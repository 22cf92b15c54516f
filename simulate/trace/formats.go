package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A Format is a format of job traces, with its reader and, if it has one, its writer.
type Format struct {
	Name, Doc string
	// Sniff reports whether the first 64 KiB of an input, without byte order mark, look like this format.
	Sniff func(head []byte) bool
	// Read returns the arrivals of an input, which can be read once.
	Read func(r io.Reader, o parse.Options) iter.Seq2[workload.Arrival, error]
	// Write writes arrivals up to the first error of seq or w; nil: no writer.
	Write func(w io.Writer, seq iter.Seq2[workload.Arrival, error]) error
	// history reads the observed times of jobs; nil: the format has none. It returns nil if this input has
	// none, after reading only its beginning.
	history func(r *bufio.Reader, o parse.Options) (*History, error)
}

var formats = []Format{
	{"jsonl", "our own JSON Lines, lossless", func(h []byte) bool { return firstByte(h) == '{' && !sniffKubernetes(h) && !slurm.Sniff(h) }, readJSONL, writeJSONL, nil},
	{"sia", "Sia and Pollux simulator CSV", siaTable.Sniff, siaTable.Read, writeSia, nil},
	{PhillyFormat, "Microsoft Philly: cluster_job_log, or the CSV derived from it", func(h []byte) bool { return firstByte(h) == '[' || phillyTable.Sniff(h) }, readPhilly, nil, phillyHistory},
	{HeliosFormat, "Helios cluster_log.csv, and Acme trace_seren.csv and trace_kalos.csv", heliosTable.Sniff, readHelios, nil, heliosHistory},
	{"alibaba", "Alibaba GPU 2023 openb pod list", alibabaTable.Sniff, alibabaTable.Read, nil, nil},
	{alibabaSpotTable.Format, "Alibaba GPU 2026 job_info_df.csv, with spot jobs", alibabaSpotTable.Sniff, readAlibabaSpot, nil, nil},
	{PAIFormat, "Alibaba PAI 2020: pai_task_table.csv, or pai_job_table.csv and it as one file", sniffPAI, readPAI, nil, paiHistory},
	{swfFormat, "Standard Workload Format of CPU clusters; needs " + swfGPUs + ", which counts processors as GPUs", sniffSWF, readSWF(false), nil, swfHistory(false)},
	{"gavel", "Gavel simulator, 7 or 10 columns, or CSV", func(h []byte) bool { return gavelTable.Sniff(h) && !shockwaveTable.Sniff(h) }, gavelTable.Read, nil, nil},
	{"shockwave", "Shockwave simulator, 12 columns, or CSV", shockwaveTable.Sniff, shockwaveTable.Read, nil, nil},
	{"synergy", "Synergy simulator CSV", synergyTable.Sniff, synergyTable.Read, nil, nil},
	{slurm.Format, "Slurm's accounting: sacct --parsable2 with its header, tables separated by tabs, commas or semicolons, sacct --json, MIT Supercloud's slurm-log.csv", slurm.Sniff, slurm.Read, nil, slurmHistory},
	{kubernetesFormat, "lists of Jobs, JobSets, TrainJobs, RayJobs, Workloads, Pods and Nodes, as kubectl prints them", sniffKubernetes, readKubernetes, nil, kubernetesHistory},
}

// Formats returns all formats.
func Formats() []Format { return slices.Clone(formats) }

// Find returns the format called name, or an error that lists all names. slurm@NAME reads one cluster of format slurm;
// swf@gpus counts each processor of swf as a GPU.
func Find(name string) (Format, error) {
	if format, cluster, ok := strings.Cut(name, "@"); ok && format == slurm.Format && cluster != "" {
		return oneCluster(cluster), nil
	}
	if name == swfGPUs {
		return Format{Name: swfFormat, Doc: "format swf, each processor counted as a GPU", Sniff: sniffSWF, Read: readSWF(true), history: swfHistory(true)}, nil
	}
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("trace format %q, want one of %s", name, names())
}

func oneCluster(name string) Format {
	return Format{
		Name: slurm.Format, Doc: "format slurm, only the rows of cluster " + name, Sniff: slurm.Sniff,
		Read: func(r io.Reader, o parse.Options) iter.Seq2[workload.Arrival, error] {
			o.Cluster = name
			return slurm.Read(r, o)
		},
		history: func(r *bufio.Reader, o parse.Options) (*History, error) {
			o.Cluster = name
			return slurmHistory(r, o)
		},
	}
}

// Named splits FILE or FORMAT:FILE into format and file. If format is given, name is only a file name.
func Named(name, format string) (formatName, file string) {
	if first, rest, ok := strings.Cut(name, ":"); ok && format == "" {
		if _, err := Find(first); err == nil {
			return first, rest
		}
	}
	return format, name
}

func names() string {
	var all []string
	for _, f := range formats {
		all = append(all, f.Name)
	}
	return strings.Join(all, ", ")
}

// Open returns the jobs of the trace in r, which may be gzipped; they can be read once. name is the name of the format;
// if it is empty, Open recognises the format.
func Open(r io.Reader, name string, o parse.Options) (iter.Seq2[workload.Arrival, error], error) {
	b, format, o, err := open(r, name, o)
	if err != nil {
		return nil, err
	}
	return format.Read(b, o), nil
}

func open(r io.Reader, name string, o parse.Options) (*bufio.Reader, Format, parse.Options, error) {
	if err := o.Validate(); err != nil {
		return nil, Format{}, o, fmt.Errorf("trace options: %w", err)
	}
	o = o.Filled()
	b, err := parse.Unpacked(r, o)
	if err != nil {
		return nil, Format{}, o, err
	}
	head, err := b.Peek(parse.HeadBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return nil, Format{}, o, parse.ReadError(o, 0, err)
	}
	if o.Mapping != nil {
		return b, mapped(o.Mapping), o, nil
	}
	format, err := choose(name, bytes.TrimPrefix(head, parse.ByteOrderMark), o)
	return b, format, o, err
}

func choose(name string, head []byte, o parse.Options) (Format, error) {
	if name != "" {
		return Find(name)
	}
	if problem := elsewhere(head); problem != "" {
		return Format{}, &parse.Error{File: o.File, Line: 1, Problem: problem}
	}
	for _, f := range formats {
		if f.Sniff(head) {
			return f, nil
		}
	}
	if len(bytes.TrimSpace(head)) == 0 {
		return Format{}, &parse.Error{File: o.File, Problem: "empty file, want a trace"}
	}
	return Format{}, &parse.Error{File: o.File, Line: 1, Problem: fmt.Sprintf("first line %s is of no known format%s, want one of %s", parse.Quote(parse.FirstLine(head)), resembles(parse.FirstLine(head)), names()), Mapping: parse.GuessMapping(parse.FirstLine(head))}
}

// elsewhere returns what an input is that is no history of jobs, and what to use instead; empty: unknown.
func elsewhere(head []byte) string {
	first := strings.TrimSpace(parse.FirstLine(head))
	for _, other := range others {
		if other.begins.MatchString(first) {
			return other.name + ", which Oxgang does not read; write a table with the header id,user,submit,start,end,gpus and read it with --mapping"
		}
	}
	switch {
	case strings.HasPrefix(first, "NodeName=") || strings.HasPrefix(first, "NODES "):
		return "this is a list of Slurm nodes, not of jobs; pass it with --slurm-nodes"
	case bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "text in UTF-16, want UTF-8"
	case strings.HasPrefix(first, "JobId=") || strings.HasPrefix(first, "JOBID "):
		return "output of squeue or scontrol, which has only jobs that wait or run; export the history with: " + slurm.Export
	case strings.HasPrefix(first, "apiVersion:") || strings.HasPrefix(first, "kind:"):
		return "objects of Kubernetes in YAML, want JSON: kubectl get -o json"
	case kubectlTable.MatchString(first):
		return "a table that kubectl printed, which has no times; export: kubectl get jobs.batch,jobsets,trainjobs,rayjobs,workloads.kueue.x-k8s.io,pods,nodes -A -o json"
	}
	return ""
}

var others = []struct {
	name   string
	begins *regexp.Regexp
}{
	{"a history of LSF", regexp.MustCompile(`^(JOBID +USER +STAT|Job <|"JOB_[A-Z]+" )`)},
	{"a history of PBS", regexp.MustCompile(`^(Job (id|ID|Id:) |\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Z];)`)},
	{"a history of Grid Engine", regexp.MustCompile(`^(job-ID +prior|={40}|[^"{\[:]+:([^:]*:){39})`)},
	{"a history of Ray", regexp.MustCompile(`^(JobDetails\(|\[?\{"(type|job_id|submission_id)": ?"[^{]*"submission_id")`)},
	{"a Parquet file", regexp.MustCompile(`^PAR1`)},
}

var kubectlTable = regexp.MustCompile(`^(NAMESPACE|NAME) +(NAME|QUEUE|STATUS|COMPLETIONS|READY) `)

// resembles names the table format that shares most columns with a header, and the columns that the header lacks. It
// returns "" if the header has less than half of the columns of every format.
func resembles(header string) string {
	has := strings.FieldsFunc(strings.ToLower(header), func(r rune) bool { return strings.ContainsRune("|,;\t\" ", r) })
	best, text := 0.5, ""
	for _, t := range []*parse.Table{&siaTable, &phillyTable, &heliosTable, &alibabaTable, &alibabaSpotTable, &gavelTable, &synergyTable, slurm.Header()} {
		var lacks []string
		for _, want := range t.Required {
			if !slices.ContainsFunc(strings.Split(want, "|"), func(name string) bool { return slices.Contains(has, name) }) {
				lacks = append(lacks, strings.ReplaceAll(want, "|", " or "))
			}
		}
		if share := 1 - float64(len(lacks))/float64(len(t.Required)); share >= best && len(lacks) > 0 {
			best, text = share, fmt.Sprintf(" (it looks like %s without column %s)", t.Format, strings.Join(lacks, ", "))
		} else if share == 1 {
			return fmt.Sprintf(" (it looks like %s with another separator)", t.Format)
		}
	}
	return text
}

func firstByte(head []byte) byte {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, parse.ByteOrderMark), " \t\r\n")
	if len(head) == 0 {
		return 0
	}
	return head[0]
}

// LargestUse returns the smallest cluster that could have run the history, as text for a configuration. It has as many
// GPUs of each type as jobs held at any time, and as many per node as a job had on one node. It is "" if no start is
// known.
func (h *History) LargestUse() string {
	types := map[cluster.GPUType]*usage{}
	for i := range h.Jobs {
		o := &h.Jobs[i]
		if o.Started.IsZero() {
			continue
		}
		u := types[heldType(o)]
		if u == nil {
			u = &usage{name: heldType(o)}
			types[u.name] = u
		}
		u.add(o)
	}
	names := make([]string, 0, len(types))
	for _, u := range types {
		names = append(names, u.cluster())
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

func heldType(o *parse.Observed) cluster.GPUType {
	if t := o.Arrival.Spec.GPUTypes; len(t) > 0 {
		return t[0]
	}
	return unnamedType
}

type usage struct {
	name    cluster.GPUType
	perNode int // most GPUs of a job on one node
	changes []change
}

type change struct {
	at   time.Time
	gpus int
}

func (u *usage) add(o *parse.Observed) {
	n := o.Arrival.Spec.GPUs
	each := min(n, largestNode)
	if o.Nodes > 0 {
		each = (n + o.Nodes - 1) / o.Nodes
	}
	u.perNode = max(u.perNode, each)
	u.changes = append(u.changes, change{o.Started, n}, change{o.Left(), -n})
}

const largestNode = 8

func (u *usage) cluster() string {
	return fmt.Sprintf("%s:%dx%d", u.name, (u.most()+u.perNode-1)/u.perNode, u.perNode)
}

func (u *usage) most() int {
	slices.SortFunc(u.changes, func(a, b change) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.gpus, b.gpus)) })
	held, most := 0, 0
	for _, c := range u.changes {
		held += c.gpus
		most = max(most, held)
	}
	return most
}

// MostInUse returns the largest number of GPUs of all types that jobs held at the same time.
func (h *History) MostInUse() int {
	var all usage
	for i := range h.Jobs {
		if o := &h.Jobs[i]; !o.Started.IsZero() {
			all.add(o)
		}
	}
	return all.most()
}
