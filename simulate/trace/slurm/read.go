package slurm

import (
	"bufio"
	"bytes"
	"io"
	"iter"

	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// Format is the name of this trace format.
const Format = "slurm"

// Columns are the columns of sacct that the reader uses.
const Columns = "JobID,JobName,User,Account,Partition,QOS,Submit,Eligible,Start,End,ElapsedRaw,Timelimit,Priority,State,Reason,Reservation,ReqTRES,AllocTRES"

// Export is the sacct command that prints everything that the reader uses, for the last 30 days.
const Export = "sacct -P -a -X -D -S now-30days -o " + Columns

const refused = "; export it with: " + Export

// Read returns the jobs in r, which can be read once, in the order of their last rows. Times count from Options.Start,
// or from the first submission of a job that ran on GPUs. Errors have type *parse.Error.
func Read(r io.Reader, o parse.Options) iter.Seq2[workload.Arrival, error] {
	o = o.Filled()
	return func(yield func(workload.Arrival, error) bool) {
		newLog(o, yield).read(r)
	}
}

// History is Read, with the times of starts and ends. A job that got more GPUs than it requested is assumed to need all
// of them.
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

func (l *log) read(r io.Reader) {
	b := bufio.NewReaderSize(r, parse.HeadBytes)
	head, _ := b.Peek(parse.HeadBytes) // an error occurs again later
	if bytes.HasPrefix(head, parse.ByteOrderMark) {
		head = head[len(parse.ByteOrderMark):]
		_, _ = b.Discard(len(parse.ByteOrderMark)) // already in the buffer
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

// Sniff reports whether head looks like the output of sacct, even if it has columns that Read does not accept.
func Sniff(head []byte) bool {
	head = bytes.TrimPrefix(head, parse.ByteOrderMark)
	if sniffJSON(head) {
		return true
	}
	first := parse.FirstLine(head)
	return separator(first) != 0 || shapeProblem(head) != ""
}
