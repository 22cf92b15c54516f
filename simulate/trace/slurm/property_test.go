package slurm

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// A truth is what happened to one job of a generated history.
type truth struct {
	user               string
	gpus               int
	submit, start, end int64 // of the last run; submit of the first
}

// history draws a history in the form of sacct -P and what it means.
type history struct {
	t      *rapid.T
	rows   []string
	jobs   []truth
	number int
}

const historyColumns = "Cluster|JobID|JobName|User|Partition|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|State|ReqGRES|NNodes|ReqTRES|AllocTRES"

func (h *history) draw(name string, least, most int) int {
	return rapid.IntRange(least, most).Draw(h.t, name)
}

func stamp(s int64) string {
	if s == 0 {
		return "Unknown"
	}
	return time.Unix(s, 0).UTC().Format("2006-01-02T15:04:05")
}

func (h *history) row(cluster, id, user, state string, submit, start, end, elapsed int64, gres, req, alloc string) {
	name := rapid.SampledFrom([]string{"train", "a,b", "größe", "x y", ""}).Draw(h.t, "name")
	h.rows = append(h.rows, strings.Join([]string{
		cluster, id, name, user, "gpu", stamp(submit), stamp(submit), stamp(start), stamp(end), fmt.Sprint(elapsed),
		rapid.SampledFrom([]string{"01:00:00", "Partition_Limit", "UNLIMITED", ""}).Draw(h.t, "limit"), state, gres, "2", req, alloc,
	}, "|"))
}

// tres writes a number of GPUs in one of Slurm's forms.
func (h *history) tres(gpus int) string {
	switch h.draw("form", 0, 3) {
	case 0:
		return fmt.Sprintf("cpu=4,gres/gpu=%d,mem=16G,node=1", gpus)
	case 1:
		return fmt.Sprintf("cpu=4,mem=16G,node=1,gres/gpu:nvidia_a100_80gb=%d", gpus)
	case 2:
		return fmt.Sprintf("billing=2,gres/gpu:a100=%d,gres/gpu=%d", gpus, gpus)
	}
	return fmt.Sprintf("cpu=4,gres/gpu=%d,gres/gpumem=80G,gres/gpuutil=90", gpus)
}

const epoch = 1767225600 // 2026-01-01

// add draws one job with an oddity.
func (h *history) add() {
	cluster := rapid.SampledFrom([]string{"alpha", "beta"}).Draw(h.t, "cluster")
	user := rapid.SampledFrom([]string{"ann", "bob", "eve"}).Draw(h.t, "user")
	h.number++
	id, gpus := fmt.Sprint(h.number), h.draw("gpus", 1, 16)
	submit := int64(epoch + h.draw("submit", 0, 90*aDay))
	start := submit + int64(h.draw("wait", 0, aDay))
	end := start + int64(h.draw("run", 1, 3*aDay))
	job := truth{user: cluster + " " + user, gpus: gpus, submit: submit, start: start, end: end}
	list := h.tres(gpus)
	whole := func(id string) { h.row(cluster, id, user, "COMPLETED", submit, start, end, end-start, "", list, list) }
	switch h.draw("oddity", 0, 11) {
	case 0: // the number was another job's nine years ago
		old := submit - 9*365*aDay
		h.row(cluster, id, user, "COMPLETED", old, old+60, old+3660, 3600, "", list, list)
		h.jobs = append(h.jobs, truth{job.user, gpus, old, old + 60, old + 3660})
		whole(id)
	case 1: // the other cluster has the same number
		other := map[string]string{"alpha": "beta", "beta": "alpha"}[cluster]
		h.row(other, id, user, "COMPLETED", submit, start, end, end-start, "", list, list)
		h.jobs = append(h.jobs, truth{other + " " + user, gpus, submit, start, end})
		whole(id)
	case 2: // requeued: submitted again when its node failed
		failed := start + (end-start)/2
		h.row(cluster, id, user, "NODE_FAIL", submit, start, failed, failed-start, "", list, list)
		job.start, job.end = failed+30, end+60
		h.row(cluster, id, user, "COMPLETED", failed, job.start, job.end, job.end-job.start, "", list, list)
	case 3: // suspended for two hours
		job.end = end + 2*hour
		h.row(cluster, id, user, "COMPLETED", submit, start, job.end, end-start, "", list, list)
	case 4: // two parts
		job.gpus = 2 * gpus
		whole(id + "+0")
		whole(id + "+1")
	case 5: // MIG, shards, no GPUs: left out
		part := rapid.SampledFrom([]string{"gres/gpu:1g.10gb=1,gres/gpu=1", "gres/shard=2", "gres/gpu:nvidia_a100_3g.20gb=2,gres/gpu=2", "gres/mps=50", "cpu=4"}).Draw(h.t, "part")
		h.row(cluster, id, user, "COMPLETED", submit, start, end, end-start, "", part, part)
		return
	case 6: // never ran
		state := rapid.SampledFrom([]string{"CANCELLED by 7", "PENDING", "REVOKED"}).Draw(h.t, "state")
		h.row(cluster, id+rapid.SampledFrom([]string{"", "_[1-3,7,10-100:10%4]"}).Draw(h.t, "tasks"), user, state, submit, 0, 0, 0, "", list, "")
		return
	case 7: // of each node, and of the job
		form := rapid.SampledFrom([]string{"PER_NODE:gpu:%d", "gpu:a100:%d", "gres:gpu:%d"}).Draw(h.t, "per node")
		job.gpus = 2 * gpus
		if h.draw("per job", 0, 1) == 1 {
			form, job.gpus = "PER_JOB:gpu:%d", gpus
		}
		h.row(cluster, id, user, "COMPLETED", submit, start, end, end-start, fmt.Sprintf(form, gpus), "", "")
	case 8: // a step, and a repeated row
		h.row(cluster, id+".batch", "", "COMPLETED", submit, start, end, end-start, "", "", list)
		h.rows = append(h.rows, h.rows[len(h.rows)-1])
		whole(id)
	default:
		whole(id)
	}
	h.jobs = append(h.jobs, job)
}

// Kind of fault: rows of a log that Slurm prints for oddities are read as other jobs than ran. A history of
// known jobs with oddities at random, in any order of rows, has their number, GPU-hours, waits and users.
func TestHistory_of_known_jobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history{t: t, number: 100}
		for range h.draw("jobs", 1, 40) {
			h.add()
		}
		for _, cluster := range []string{"alpha", "beta"} { // one whole job of each
			h.number++
			h.row(cluster, fmt.Sprint(h.number), "ann", "COMPLETED", epoch, epoch+60, epoch+3660, 3600, "", h.tres(1), h.tres(1))
			h.jobs = append(h.jobs, truth{cluster + " ann", 1, epoch, epoch + 60, epoch + 3660})
		}
		rows := rapid.Permutation(h.rows).Draw(t, "rows")
		text := historyColumns + "\n" + strings.Join(rows, "\n") + "\n"
		got, err := History(strings.NewReader(text), parse.Options{Zone: time.UTC})
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		var seen []truth
		for i := range got {
			seen = append(seen, truthOf(&got[i]))
		}
		compareTruths(t, h.jobs, seen, text)
	})
}

func truthOf(o *parse.Observed) truth {
	cluster, _, _ := strings.Cut(string(o.Arrival.Spec.ID), "/")
	return truth{
		user: cluster + " " + o.Arrival.Spec.User, gpus: o.Arrival.Spec.GPUs,
		submit: o.Submitted.Unix(), start: o.Started.Unix(), end: o.Ended.Unix(),
	}
}

// compareTruths compares jobs in any order, their GPU-hours, waits and users.
func compareTruths(t *rapid.T, want, got []truth, text string) {
	order := func(a, b truth) int {
		return cmp.Or(cmp.Compare(a.submit, b.submit), cmp.Compare(a.start, b.start), cmp.Compare(a.user, b.user), cmp.Compare(a.gpus, b.gpus), cmp.Compare(a.end, b.end))
	}
	slices.SortFunc(want, order)
	slices.SortFunc(got, order)
	if !slices.Equal(want, got) {
		t.Fatalf("jobs\n%v, want\n%v of\n%s", got, want, text)
	}
	sums := func(all []truth) (hours, waits float64) {
		for _, j := range all {
			hours, waits = hours+float64(int64(j.gpus)*(j.end-j.start))/hour, waits+float64(j.start-j.submit)
		}
		return hours, waits
	}
	hours, waits := sums(got)
	if h, w := sums(want); math.Abs(h-hours) > 1e-6 || math.Abs(w-waits) > 1e-6 {
		t.Fatalf("%v GPU-hours, waits of %v s, want %v and %v", hours, waits, h, w)
	}
}
