package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"regexp"

	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// kubernetesHistory reads the state of a Kubernetes cluster: one or several lists as printed by
//
//	kubectl get jobs.batch,jobsets,trainjobs,rayjobs,workloads.kueue.x-k8s.io,clusterqueues,localqueues,resourceflavors,pods,nodes -A -o json
func kubernetesHistory(b *bufio.Reader, o parse.Options) (*History, error) {
	k := &History{Format: kubernetesFormat}
	all, err := parse.Collect(parse.SinceFirst(k.arrivals(b, o), o))
	if err != nil {
		return nil, err
	}
	for i := range all {
		k.Jobs[i].Arrival = all[i]
	}
	return k, nil
}

const kubernetesFormat = "kubernetes"

var kubernetesHead = regexp.MustCompile(`^\s*\{\s*"(apiVersion|kind|items)"\s*:`)

func sniffKubernetes(head []byte) bool {
	return kubernetesHead.Match(bytes.TrimPrefix(head, parse.ByteOrderMark))
}

func readKubernetes(r io.Reader, o parse.Options) iter.Seq2[workload.Arrival, error] {
	o = o.Filled()
	return parse.SinceFirst(new(History).arrivals(bufio.NewReaderSize(r, parse.HeadBytes), o), o)
}

func (k *History) arrivals(r *bufio.Reader, o parse.Options) iter.Seq2[workload.Arrival, error] {
	return func(yield func(workload.Arrival, error) bool) {
		f := parse.NewFeed(o, kubernetesFormat, true, yield)
		d := newKubeDump(o)
		lines, ok := d.read(f, r)
		if !ok {
			return
		}
		k.Cluster, k.Taken, k.Quotas = d.cluster(), d.taken, d.quotas()
		roots := d.roots()
		d.compareQuotas(roots)
		for _, root := range roots {
			seen, drop := d.observe(root)
			if drop != "" {
				o.Summary.Note(drop)
				continue
			}
			if !k.pass(f, root, seen) {
				return
			}
		}
		f.Finish(lines)
	}
}

func (k *History) pass(f *parse.Feed, root *kubeObject, seen parse.Observed) bool {
	a := &seen.Arrival
	var ok bool
	if a.At, ok = parse.SinceStart(seen.Submitted, f.O); !ok { // checked when read
		return f.Reject(root.problem(f.O, errors.New("creationTimestamp out of range")))
	}
	if a.At < 0 {
		f.O.Summary.Note(parse.DropEarlier)
		return true
	}
	if err := errors.Join(parse.Check(a), f.Check(a)); err != nil {
		return f.Reject(root.problem(f.O, err))
	}
	k.Jobs = append(k.Jobs, seen)
	jobs := f.O.Summary.Jobs
	more := f.Accept(*a, root.line, 0, "uid")
	if f.O.Summary.Jobs == jobs { // it is a repetition
		k.Jobs = k.Jobs[:len(k.Jobs)-1]
	} else {
		f.O.Waited(&seen)
	}
	return more
}

func (d *kubeDump) read(f *parse.Feed, r *bufio.Reader) (lines int, ok bool) {
	in := &kubeLists{elements: elements{r: r, o: d.o, line: 1}}
	for {
		text, line, err := in.next()
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return in.line, true
		case err != nil && !errors.Is(err, parse.ErrTooLong):
			f.Fail(err)
			return 0, false
		}
		d.o.Summary.Rows++
		if err == nil {
			err = d.object(in, text, line)
		}
		if err != nil && !f.Reject(err) {
			return 0, false
		}
	}
}

func (d *kubeDump) object(in *kubeLists, text []byte, line int) error {
	o := &kubeObject{line: line}
	if err := json.Unmarshal(text, o); err != nil {
		return &parse.Error{File: d.o.File, Line: line, Problem: jsonProblem(err), Err: err}
	}
	in.fill(o)
	if err := d.add(o); err != nil {
		return o.problem(d.o, err)
	}
	return nil
}
