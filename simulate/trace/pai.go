package trace

import (
	"bufio"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// PAIFormat is the name of the format of Alibaba's cluster-trace-gpu-v2020, from its platform PAI. The input is
// pai_task_table.csv, with GPUs and starts, alone or after pai_job_table.csv, with users and submissions. Neither
// has a header.
const PAIFormat = "alibaba-pai"

var (
	paiTaskColumns = []string{"job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_cpu", "plan_mem", "plan_gpu", "gpu_type"}
	paiJobColumns  = []string{"job_name", "inst_id", "user", "status", "start_time", "end_time"}
	paiStatus      = []string{"Terminated", "Failed", "Running", "Waiting", "Interrupted"}
)

func sniffPAI(head []byte) bool {
	fields := strings.Split(parse.FirstLine(head), ",")
	if len(fields) != len(paiTaskColumns) && len(fields) != len(paiJobColumns) {
		return false
	}
	return paiHeader(fields) || slices.Contains(paiStatus, strings.TrimSpace(fields[3]))
}

func paiHeader(fields []string) bool {
	return slices.Equal(fields, paiTaskColumns) || slices.Equal(fields, paiJobColumns)
}

type paiJob struct {
	name, user string
	line       int           // of its first row
	submitted  time.Duration // -1: unknown
	start, end time.Duration // of all tasks with GPUs
	gpus       int
	each       int // GPUs of every worker; 0: workers differ
	tasks      int // with GPUs
	cpus       float64
	memory     int64
	types      []cluster.GPUType
	drop       string // empty: the job can be replayed
}

type paiLog struct {
	*parse.Feed
	now         *parse.Observed
	task, job   *parse.Row
	jobs        map[string]*paiJob
	order       []*paiJob
	submissions bool // some job has a submission
}

func readPAI(r io.Reader, o parse.Options) iter.Seq2[workload.Arrival, error] {
	return parse.SinceFirst(onlyArrivals(recordedPAI(r, o), o), o)
}

func paiHistory(b *bufio.Reader, o parse.Options) (*History, error) {
	return recordedHistory(PAIFormat, recordedPAI(b, o), o, true)
}

func recordedPAI(r io.Reader, o parse.Options) recordedSeq {
	o = o.Filled()
	return func(yield func(parse.Observed, error) bool) {
		l := &paiLog{jobs: make(map[string]*paiJob)}
		l.Feed, l.now = recording(o, PAIFormat, yield)
		l.task, l.job = parse.NewRow(l.O, parse.Columns(paiTaskColumns, ',')), parse.NewRow(l.O, parse.Columns(paiJobColumns, ','))
		in := parse.NewLines(r, l.O)
		if in.Each(l.Feed, func(line string) bool { return l.line(line, in.Number) }) && l.pass() {
			l.Finish(in.Number)
		}
	}
}

func (l *paiLog) line(line string, number int) bool {
	if paiHeader(strings.Split(line, ",")) {
		return true
	}
	l.O.Summary.Rows++
	row, use := l.task, l.addTask
	if strings.Count(line, ",") == len(paiJobColumns)-1 {
		row, use = l.job, l.addJob
	}
	row.Line = number
	err := row.Cut(line)
	if err == nil {
		use(row)
		err = row.Err
	}
	if err == nil {
		return true
	}
	name, _, _ := strings.Cut(line, ",")
	l.named(strings.TrimSpace(name), number).drop = "jobs with a row that cannot be read, dropped"
	return l.Reject(err)
}

func (l *paiLog) named(name string, line int) *paiJob {
	j := l.jobs[name]
	if j == nil {
		j = &paiJob{name: strings.Clone(name), line: line, submitted: -1, start: -1}
		l.jobs[j.name], l.order = j, append(l.order, j)
	}
	return j
}

func (l *paiLog) of(r *parse.Row) *paiJob {
	j := l.named(r.ID("job_name"), r.Line)
	if !slices.Contains(paiStatus, r.Raw("status")) {
		r.Fail("status", strings.Join(paiStatus, ", "))
	}
	return j
}

func (l *paiLog) addJob(r *parse.Row) {
	j := l.of(r)
	if j.user = r.Word("user"); r.Raw("start_time") != "" {
		j.submitted, l.submissions = r.Seconds("start_time"), true
	}
}

func (l *paiLog) addTask(r *parse.Row) {
	j := l.of(r)
	percent := 0.0
	if r.Raw("plan_gpu") != "" {
		percent = r.Amount("plan_gpu", 1, 100*parse.MaxCount)
	}
	if percent > 0 {
		l.addGPUs(j, r, percent/100)
	}
}

func (l *paiLog) addGPUs(j *paiJob, r *parse.Row, share float64) {
	workers, each := r.Count("inst_num", 1, parse.MaxCount), int(math.Ceil(share))
	if float64(each) != share {
		r.O.Summary.NoteMany("workers with part of a GPU, counted as whole GPUs", workers)
	}
	if j.tasks++; j.tasks == 1 {
		j.each = each
	} else if j.each != each {
		j.each = 0
	}
	j.gpus = min(j.gpus+workers*each, parse.MaxCount+1)
	if r.Raw("plan_cpu") != "" {
		j.cpus += r.Amount("plan_cpu", 0.01, parse.MaxCount) * float64(workers)
	}
	if r.Raw("plan_mem") != "" {
		j.memory = min(j.memory+int64(r.Amount("plan_mem", 1<<30, 1<<44))*int64(workers), 1<<60)
	}
	if kind := cluster.GPUType(r.Word("gpu_type")); kind != "" && !slices.Contains(j.types, kind) {
		j.types = append(j.types, kind)
	}
	if r.Raw("start_time") == "" || r.Raw("end_time") == "" {
		j.drop = "jobs with a task that never started or never ended (" + r.Word("status") + ") dropped"
		return
	}
	start, end := r.Seconds("start_time"), r.Seconds("end_time")
	if end < start {
		r.Fail("end_time", "a time that is not before start_time")
	}
	if j.start < 0 || start < j.start {
		j.start = start
	}
	j.end = max(j.end, end)
}

func (l *paiLog) pass() bool {
	if l.submissions && !slices.ContainsFunc(l.order, func(j *paiJob) bool { return j.gpus > 0 || j.drop != "" }) {
		l.Fail(&parse.Error{File: l.O.File, Problem: "no row has GPUs: pai_job_table.csv states none; read the tasks too: cat pai_job_table.csv pai_task_table.csv > pai.csv"})
		return false
	}
	for _, j := range l.order {
		a, drop := l.arrival(j)
		if drop != "" {
			l.O.Summary.Note(drop)
			continue
		}
		if err := l.Check(&a); err != nil {
			if !l.Reject(&parse.Error{File: l.O.File, Line: j.line, Problem: err.Error(), Err: err}) {
				return false
			}
			continue
		}
		l.observe(j, &a)
		if !l.Accept(a, j.line, 1, "job_name") {
			return false
		}
	}
	return true
}

func (l *paiLog) arrival(j *paiJob) (workload.Arrival, string) {
	a := workload.Arrival{At: j.submitted, Duration: j.end - j.start}
	a.Spec = job.Spec{ID: job.ID(j.name), User: j.user, GPUs: j.gpus, CPUs: j.cpus, Memory: j.memory, Adaptivity: job.Rigid, GPUTypes: j.types}
	if j.gpus > j.each {
		a.Spec.WorkerGPUs = j.each
	}
	switch {
	case j.drop != "":
		return a, j.drop
	case j.gpus == 0:
		return a, parse.DropNoGPUs
	case j.gpus > parse.MaxCount:
		return a, "jobs with more GPUs than a cluster can have, dropped"
	case a.Duration == 0:
		return a, parse.DropNoTime
	}
	if len(j.types) > 1 {
		l.O.Summary.Note("jobs on GPUs of several types, simulated on one of them")
	}
	switch {
	case j.submitted < 0:
		l.O.Summary.Note(noteNoSubmission)
		a.At = j.start
	case j.submitted > j.start:
		l.O.Summary.Note(noteEarlyStart)
		a.At = j.start
	}
	return a, ""
}

func (l *paiLog) observe(j *paiJob, a *workload.Arrival) {
	zero := time.Unix(0, 0).UTC()
	*l.now = parse.Observed{Submitted: zero.Add(a.At)}
	if j.submitted < 0 {
		return // its wait is unknown
	}
	l.now.Started, l.now.Ended = zero.Add(j.start), zero.Add(j.end)
}
