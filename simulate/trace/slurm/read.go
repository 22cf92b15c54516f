package slurm

import (
	"bufio"
	"bytes"
	"io"
	"iter"

	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// Format is the name of the format.
const Format = "slurm"

// Columns are those that are read, as sacct names them.
const Columns = "JobID,JobName,User,Account,Partition,QOS,Submit,Eligible,Start,End,ElapsedRaw,Timelimit,Priority,State,Reason,Reservation,ReqTRES,AllocTRES"

// Export is the command whose output has all that is read, of the last 30 days.
const Export = "sacct -P -a -X -D -S now-30days -o " + Columns

// refused ends a sentence about what cannot be read.
const refused = "; export it with: " + Export

// Read returns the jobs of an input, once, in the order of their last rows. Times count from
// Options.Start, or from the first submission of a job that ran on GPUs. Errors of the input
// are of type *parse.Error.
func Read(r io.Reader, o parse.Options) iter.Seq2[workload.Arrival, error] {
	o = o.Filled()
	return func(yield func(workload.Arrival, error) bool) {
		newLog(o, yield).read(r)
	}
}

// History returns the jobs of an input with what was observed of them, as Read does. A
// job that was given more GPUs than it asked for needs all of them.
func History(r io.Reader, o parse.Options) ([]parse.Observed, error) {
	var failed error
	l := newLog(o.Filled(), func(_ workload.Arrival, err error) bool {
		failed = err
		return err == nil
	})
	l.observe = true
	l.read(r)
	return l.observed, failed
}

// read reads an input and passes its jobs on.
func (l *log) read(r io.Reader) {
	b := bufio.NewReaderSize(r, parse.HeadBytes)
	head, _ := b.Peek(parse.HeadBytes) // an error comes again
	if bytes.HasPrefix(head, parse.ByteOrderMark) {
		head = head[len(parse.ByteOrderMark):]
		_, _ = b.Discard(len(parse.ByteOrderMark)) // it is in the buffer
	}
	var lines int
	var ok bool
	if sniffJSON(head) {
		lines, ok = l.readJSON(b)
	} else {
		lines, ok = l.readTable(b, head)
	}
	if !ok {
		return
	}
	if l.passJobs() {
		l.feed.Finish(lines)
	}
}

// Sniff reports whether an input looks like what sacct prints, in a shape that is read or in one
// that is refused.
func Sniff(head []byte) bool {
	head = bytes.TrimPrefix(head, parse.ByteOrderMark)
	if sniffJSON(head) {
		return true
	}
	first := parse.FirstLine(head)
	return separator(first) != 0 || shapeProblem(head) != ""
}
