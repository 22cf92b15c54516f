package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

func waiting(j *client.Job, l *Look) status.Job {
	v := jobOf(j)
	v.Phase, v.Since, v.Reason = job.Waiting.String(), j.Submit, j.Reason
	m := meaningOf(j.Reason)
	v.Sentence, v.Unblock = m.Why, m.Unblock
	switch more := l.detail(j); {
	case more == "":
	case m.Code == "Priority" || m.Code == "Resources":
		v.Sentence = more
	default:
		v.Sentence += ": " + more
		if strings.HasSuffix(more, never) {
			v.Unblock = neverUnblock
		}
	}
	if mark, err := client.ParseMark(j.AdminComment); err == nil && mark.Held && j.IsHeld() {
		v.Sentence, v.Unblock = heldWhy, heldUnblock
	}
	switch {
	case !j.Start.IsZero() && !j.Start.Before(l.At):
		v.Start = status.Range{Late: j.Start, Source: "Slurm's estimate from time limits; later jobs of higher priority can delay it"}
	case !j.Start.IsZero():
		v.Start = status.Range{Unknown: "Slurm's estimate is in the past"}
	default:
		v.Start = status.Range{Unknown: "Slurm has no estimate: the job may not start, or is beyond bf_max_job_test"}
	}
	return v
}

const (
	heldWhy     = "Oxgang holds it: the current plan has no GPUs for it"
	heldUnblock = "its turn: see oxgang slurm serve --recommend; if no scheduler serves its partition any more, run oxgang slurm serve --release"
)

func bare(code string) string {
	if i := strings.IndexAny(code, ",( "); i >= 0 {
		return code[:i]
	}
	return code
}

func (l *Look) detail(j *client.Job) string {
	code := bare(j.Reason)
	switch {
	case code == "Priority":
		return l.ahead(j)
	case code == "Resources":
		return l.lacking(j)
	case code == "Dependency" || code == "DependencyNeverSatisfied":
		return j.Dependency
	case code == "BeginTime" && !j.Eligible.IsZero():
		return "not before " + j.Eligible.Format("2006-01-02 15:04:05 MST")
	case code == "JobArrayTaskLimit":
		_, limit, _ := strings.Cut(j.Tasks, "%")
		return limit + " at once"
	case code == "ReqNodeNotAvail" || code == "NodeDown":
		return l.unusable(j)
	case strings.HasPrefix(code, "QOS"):
		return l.limit(j, code)
	}
	return ""
}

func (l *Look) ahead(j *client.Job) string {
	n, gpus := 0, 0
	for i := range l.Jobs {
		o := &l.Jobs[i]
		if o.Waits() && startable(o) && o.Priority > j.Priority && o.Partition == j.Partition {
			n, gpus = n+1, gpus+o.GPUs.Total()
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s first, for %s in all", count(n, "job of higher priority comes", "jobs of higher priority come"), printable.Count(gpus, "GPU"))
}

func (l *Look) lacking(j *client.Job) string {
	d := demandOf(j)
	if d.gpus == 0 {
		return ""
	}
	fits, most := 0, 0
	for i := range l.Nodes {
		n := &l.Nodes[i]
		if cause, _ := l.closed(n); cause != "" || !l.suits(j, n) {
			continue
		}
		free := n.GPUs.Total() - n.Used.Total()
		most = max(most, free)
		if free >= d.gpus && n.CPUs-n.UsedCPUs >= d.cpus && n.Memory-n.UsedMemory >= d.memory {
			fits++
		}
	}
	on := "1 node"
	if j.Needed > 1 {
		on = fmt.Sprintf("each of %d nodes", j.Needed)
	}
	needs := fmt.Sprintf("it is next and needs %s on %s", printable.GPUs(d.gpus, strings.Join(named(j.GPUs), "+")), on)
	switch {
	case fits > 0:
		return fmt.Sprintf("%s; %s enough free", needs, count(fits, "node has", "nodes have"))
	case most >= d.gpus:
		return needs + "; the nodes with so many free GPUs have too few free CPUs or too little free memory"
	}
	return fmt.Sprintf("%s; no node has more than %d free", needs, most)
}

func (l *Look) unusable(j *client.Job) string {
	var names []string
	for i := range l.Nodes {
		n := &l.Nodes[i]
		if cause, _ := l.closed(n); cause != "" && l.suits(j, n) {
			names = append(names, fmt.Sprintf("%s is %s", n.Name, cause))
		}
	}
	const most = 4
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("%d more", len(names)-most))
	}
	return strings.Join(names, ", ")
}

func (l *Look) limit(j *client.Job, code string) string {
	q := l.qos(j.QOS)
	if p := l.partition(j.Partition); q == nil && p != nil {
		q = l.qos(p.QOS)
	}
	if q == nil {
		return ""
	}
	var most client.GPUs
	same := func(*client.Job) bool { return true }
	who := "all its jobs together"
	switch {
	case strings.Contains(code, "GRESPerUser"):
		most, who, same = q.GPUsPerUser, "a user", func(o *client.Job) bool { return o.User == j.User }
	case strings.Contains(code, "GRESPerAccount"):
		most, who, same = q.GPUsPerAccount, "an account", func(o *client.Job) bool { return o.Account == j.Account }
	case strings.Contains(code, "GRESPerJob"):
		most, who, same = q.GPUsPerJob, "a job", func(*client.Job) bool { return false }
	case strings.Contains(code, "GrpGRES"):
		most = q.GPUs
	case code == "QOSMaxJobsPerUserLimit" && q.JobsPerUser > 0:
		return fmt.Sprintf("QOS %s allows %d running jobs per user", q.Name, q.JobsPerUser)
	}
	if most == nil {
		return ""
	}
	held := 0
	for i := range l.Jobs {
		if o := &l.Jobs[i]; o.Holds() && o.QOS == j.QOS && same(o) {
			held += o.GPUs.Total()
		}
	}
	said := fmt.Sprintf("QOS %s allows %s %v GPUs; %d are held, and this job needs %d", q.Name, who, most, held, j.GPUs.Total())
	if exceeds(j, most) {
		said += never
	}
	return said
}

const (
	never        = ": more than the limit, so it can never start"
	neverUnblock = "ask for fewer GPUs, or another QOS"
)

func exceeds(j *client.Job, most client.GPUs) bool {
	all, has := most[""]
	return has && j.GPUs.Total() > all || slices.ContainsFunc(j.GPUs.Types(), func(t string) bool {
		limit, has := most[t]
		return has && j.GPUs[t] > limit
	})
}
