package trace

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

type object = map[string]any

// A truth is a job as it really ran, from which a dump is made.
type truth struct {
	kind             string // with its API version; Workload: its job is deleted
	team, name       string
	pods, gpus       int           // GPUs of each pod
	submitted        time.Duration // since the beginning
	wait, ran        time.Duration
	state            string // done, failed, runs, waits, evicted, suspended
	hasPods, isQueue bool   // the dump has its pods; Kueue admitted it
}

var kubeTruthKinds = []string{
	"batch/v1 Job", "jobset.x-k8s.io/v1alpha2 JobSet", "trainer.kubeflow.org/v1alpha1 TrainJob", "ray.io/v1 RayJob", "ray.io/v1 RayCluster",
	"batch.volcano.sh/v1alpha1 Job", "kubeflow.org/v1 PyTorchJob", "kubeflow.org/v2beta1 MPIJob", "kubeflow.org/v1 TFJob",
	"leaderworkerset.x-k8s.io/v1 LeaderWorkerSet", "kueue.x-k8s.io/v1beta1 Workload", "kueue.x-k8s.io/v1beta2 Workload",
}

// truthTaken is when the dump is made.
const truthTaken = 400 * time.Hour

var truthBegin = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func drawTruth(t *rapid.T, i int) truth {
	minutes := func(label string, least, most int) time.Duration {
		return time.Duration(rapid.IntRange(least, most).Draw(t, label)) * time.Minute
	}
	j := truth{
		kind: rapid.SampledFrom(kubeTruthKinds).Draw(t, "kind"),
		team: rapid.SampledFrom([]string{"vision", "speech"}).Draw(t, "team"), name: fmt.Sprintf("j%d", i),
		pods: rapid.IntRange(1, 5).Draw(t, "pods"), gpus: rapid.IntRange(1, 8).Draw(t, "gpus"),
		submitted: minutes("submitted", 0, 6000), wait: minutes("wait", 0, 600), ran: minutes("ran", 1, 6000),
		state:   rapid.SampledFrom([]string{"done", "done", "failed", "runs", "waits", "evicted", "suspended"}).Draw(t, "state"),
		hasPods: rapid.Bool().Draw(t, "has pods"), isQueue: rapid.Bool().Draw(t, "in a queue of Kueue"),
	}
	switch {
	case strings.HasSuffix(j.kind, "Workload"):
		j.isQueue = true
	case j.startless():
		j.hasPods = j.hasPods || !j.isQueue
	}
	switch j.state {
	case "evicted":
		j.isQueue = true
		j.hasPods = false
	case "suspended":
		j.hasPods = false
		j.isQueue = true
		if j.service() || strings.Contains(j.kind, "volcano") || strings.HasSuffix(j.kind, "Workload") {
			j.state = "runs"
		}
	case "done", "failed":
		if j.service() {
			j.state = "runs"
		}
	}
	if j.state == "runs" {
		j.ran = truthTaken - j.submitted - j.wait
	}
	return j
}

// startless reports whether the status of this kind has no start.
func (j *truth) startless() bool {
	return j.service() || strings.HasSuffix(j.kind, "JobSet") || strings.HasSuffix(j.kind, "TrainJob")
}

// service reports whether jobs of this kind have no end.
func (j *truth) service() bool {
	return strings.HasSuffix(j.kind, "LeaderWorkerSet") || strings.HasSuffix(j.kind, "RayCluster")
}

func (j *truth) at(d time.Duration) string {
	return truthBegin.Add(j.submitted + d).Format(time.RFC3339)
}

func (j *truth) start() string { return j.at(j.wait) }
func (j *truth) end() string   { return j.at(j.wait + j.ran) }

// row is what readDump returns for the job; "": nothing.
func (j *truth) row() string {
	end := "ended"
	switch j.state {
	case "waits":
		return ""
	case "runs":
		end = "runs"
	}
	return fmt.Sprintf("%d GPUs, waited %v, %s after %v", j.pods*j.gpus, j.wait, end, j.ran)
}

func (j *truth) template() object {
	gpus := fmt.Sprint(j.gpus)
	return object{"spec": object{"containers": []any{
		object{"name": "c", "resources": object{"limits": object{"nvidia.com/gpu": gpus}, "requests": object{"nvidia.com/gpu": gpus, "cpu": "2"}}},
		object{"name": "log", "resources": object{"requests": object{"cpu": "100m"}}},
	}}}
}

func condition(kind, since, reason string) any {
	return object{"type": kind, "status": "True", "lastTransitionTime": since, "reason": reason}
}

func (j *truth) spec() object {
	pods := object{"parallelism": j.pods, "completions": j.pods, "template": j.template()}
	one, rest := object{"replicas": 1, "template": j.template()}, object{"replicas": j.pods - 1, "template": j.template()}
	switch j.kind {
	case "batch/v1 Job":
		return pods
	case "jobset.x-k8s.io/v1alpha2 JobSet":
		pods["parallelism"], pods["completions"] = 1, 1
		return object{"replicatedJobs": []any{object{"name": "w", "replicas": j.pods, "template": object{"spec": pods}}}}
	case "trainer.kubeflow.org/v1alpha1 TrainJob":
		return object{"trainer": object{"numNodes": j.pods, "resourcesPerNode": object{"limits": object{"nvidia.com/gpu": j.gpus}}}}
	case "ray.io/v1 RayJob":
		return object{"rayClusterSpec": j.ray()}
	case "ray.io/v1 RayCluster":
		return j.ray()
	case "batch.volcano.sh/v1alpha1 Job":
		return object{"minAvailable": j.pods, "tasks": []any{one, rest}}
	case "kubeflow.org/v1 PyTorchJob":
		return object{"pytorchReplicaSpecs": object{"Master": object{"template": j.template()}, "Worker": rest}}
	case "kubeflow.org/v1 TFJob":
		return object{"tfReplicaSpecs": object{"Chief": one, "Worker": rest}}
	case "kubeflow.org/v2beta1 MPIJob":
		launcher := object{"replicas": 1, "template": object{"spec": object{"containers": []any{object{"name": "mpi"}}}}}
		return object{"mpiReplicaSpecs": object{"Launcher": launcher, "Worker": object{"replicas": j.pods, "template": j.template()}}}
	case "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet":
		return object{"replicas": 1, "leaderWorkerTemplate": object{"size": j.pods, "workerTemplate": j.template()}}
	}
	return nil
}

func (j *truth) ray() object {
	head := object{"template": object{"spec": object{"containers": []any{object{"name": "head"}}}}}
	return object{"headGroupSpec": head, "workerGroupSpecs": []any{object{"replicas": j.pods, "numOfHosts": 1, "template": j.template()}}}
}

// status is the status that the kind's controller writes.
func (j *truth) status() object {
	s := object{}
	all := []any{}
	if j.state != "waits" && j.state != "evicted" && j.state != "suspended" && !j.startless() {
		s["startTime"] = j.start()
	}
	switch {
	case j.state == "evicted", j.state == "suspended":
		all = append(all, condition("Suspended", j.end(), ""))
	case j.state == "waits" && j.isQueue:
		all = append(all, condition("Suspended", j.at(0), ""))
	}
	switch {
	case strings.Contains(j.kind, "volcano"):
		return j.volcanoStatus()
	case j.kind == "ray.io/v1 RayJob":
		s["rayClusterName"] = j.name + "-cluster"
		switch j.state {
		case "done":
			s["endTime"], s["jobStatus"] = j.end(), "SUCCEEDED"
		case "failed":
			s["endTime"], s["jobStatus"] = j.end(), "FAILED"
		}
	case j.kind == "ray.io/v1 RayCluster":
		s["state"] = "ready" // a text, unlike the state of Volcano
	case j.state == "failed":
		all = append(all, condition("Failed", j.end(), ""))
	case j.state == "done":
		kind := map[bool]string{true: "Succeeded", false: "Complete"}[strings.HasPrefix(j.kind, "kubeflow.org")]
		if strings.HasSuffix(j.kind, "JobSet") {
			kind = "Completed"
		}
		all = append(all, condition(kind, j.end(), ""))
		s["completionTime"] = j.end()
	}
	s["conditions"] = all
	return s
}

func (j *truth) volcanoStatus() object {
	phase := map[string]string{"done": "Completed", "failed": "Failed", "runs": "Running", "waits": "Pending", "evicted": "Pending"}[j.state]
	since := map[string]string{"done": j.end(), "failed": j.end(), "runs": j.start(), "waits": j.at(0), "evicted": j.end()}[j.state]
	all := []any{object{"status": "Pending", "lastTransitionTime": j.at(0)}}
	if j.state != "waits" && j.state != "evicted" {
		all = append(all, object{"status": "Running", "lastTransitionTime": j.start()})
	}
	return object{"state": object{"phase": phase, "lastTransitionTime": since}, "conditions": all}
}

func (j *truth) meta(suffix string, owners ...any) object {
	return object{"name": j.name + suffix, "namespace": j.team, "uid": j.name + suffix, "creationTimestamp": j.at(0), "ownerReferences": owners}
}

func (j *truth) owner() object {
	api, kind, _ := strings.Cut(j.kind, " ")
	return object{"apiVersion": api, "kind": kind, "name": j.name, "uid": j.name}
}

// workload is Kueue's record of the job.
func (j *truth) workload(t *rapid.T, api string) object {
	owner := j.owner()
	if strings.HasSuffix(j.kind, "Workload") {
		owner["apiVersion"], owner["kind"] = rapid.SampledFrom([]string{"batch/v1", "workload.codeflare.dev/v1beta2"}).Draw(t, "api of the owner"), "Job"
	}
	var all []any
	status := object{"reclaimablePods": []any{object{"name": "main", "count": rapid.IntRange(0, 99).Draw(t, "reclaimable")}}}
	if j.state != "waits" {
		all = append(all, condition("QuotaReserved", j.start(), ""), condition("Admitted", j.start(), ""))
		status["admission"] = object{"clusterQueue": "all", "podSetAssignments": []any{
			object{"name": "main", "count": j.pods, "flavors": object{"nvidia.com/gpu": "any"}},
		}}
	}
	switch j.state {
	case "done":
		all = append(all, condition("Finished", j.end(), "Succeeded"))
	case "failed":
		all = append(all, condition("Finished", j.end(), "Failed"))
	case "evicted":
		all = append(all, condition("Evicted", j.end(), "Preempted"))
		if rapid.Bool().Draw(t, "quota is given back") {
			all = []any{condition("Evicted", j.end(), "Preempted"), object{"type": "Admitted", "status": "False", "lastTransitionTime": j.end()}}
			key := map[string]string{"kueue.x-k8s.io/v1beta1": "accumulatedPastExexcutionTimeSeconds", "kueue.x-k8s.io/v1beta2": "accumulatedPastExecutionTimeSeconds"}[api]
			status[key] = int(j.ran.Seconds())
		}
	}
	status["conditions"] = all
	pods := j.pods
	if j.state != "waits" {
		pods += rapid.IntRange(0, 3).Draw(t, "pods that Kueue did not admit")
	}
	spec := object{"queueName": "q", "podSets": []any{object{"name": "main", "count": pods, "template": j.template()}}}
	return object{"apiVersion": api, "kind": "Workload", "metadata": j.meta("-w", owner), "spec": spec, "status": status}
}

// objects are the job and what belongs to it.
func (j *truth) objects(t *rapid.T) (all []object) {
	api, kind, _ := strings.Cut(j.kind, " ")
	if kind != "Workload" {
		all = append(all, object{"apiVersion": api, "kind": kind, "metadata": j.meta(""), "spec": j.spec(), "status": j.status()})
	} else {
		all = append(all, j.workload(t, api))
	}
	if j.isQueue && kind != "Workload" {
		all = append(all, j.workload(t, "kueue.x-k8s.io/v1beta2"))
	}
	if j.hasPods {
		for i := range j.pods {
			all = append(all, j.pod(i))
		}
	}
	return all
}

func (j *truth) pod(i int) object {
	meta := j.meta(fmt.Sprintf("-%d", i), j.owner())
	switch j.kind {
	case "ray.io/v1 RayJob":
		meta["labels"] = object{"ray.io/cluster": j.name + "-cluster"}
		meta["ownerReferences"] = []any{object{"apiVersion": "ray.io/v1", "kind": "RayCluster", "uid": "no such"}}
	case "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet":
		meta["labels"] = object{"leaderworkerset.sigs.k8s.io/name": j.name}
		meta["ownerReferences"] = []any{object{"apiVersion": "apps/v1", "kind": "StatefulSet", "uid": "no such"}}
	}
	scheduled := object{"type": "PodScheduled", "status": "False"}
	if j.state != "waits" {
		at := j.start()
		if i > 0 {
			at = j.at(j.wait / time.Duration(i+1)) // the first one is bound last
		}
		scheduled = object{"type": "PodScheduled", "status": "True", "lastTransitionTime": at}
	}
	return object{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": j.template()["spec"], "status": object{"conditions": []any{scheduled}}}
}

// strangers are objects that are no jobs that are read.
func strangers() []object {
	meta := func(name string) object {
		return object{"name": name, "namespace": "x", "uid": name, "creationTimestamp": truthBegin.Add(truthTaken).Format(time.RFC3339)}
	}
	pods := (&truth{gpus: 3}).template()
	return []object{
		{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("map")},
		{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta("serve"), "spec": object{"replicas": 2, "template": pods}},
		{"apiVersion": "scheduling.k8s.io/v1alpha1", "kind": "Workload", "metadata": meta("gang"), "spec": object{"podGroups": []any{}}, "status": "ok"},
		{"apiVersion": "example.com/v1", "kind": "PyTorchJob", "metadata": meta("other"), "spec": object{"pytorchReplicaSpecs": object{"Worker": object{"template": pods}}}},
	}
}

// drawLists divides objects into lists: mixed ones as kubectl prints them, or one for each kind as the API
// server does, whose items have no kind. Lists may overlap.
func drawLists(t *rapid.T, all []object) string {
	all = rapid.Permutation(all).Draw(t, "order")
	all = append(all, all[:rapid.IntRange(0, len(all)).Draw(t, "repeated")]...)
	type list struct {
		API   string   `json:"apiVersion"`
		Kind  string   `json:"kind"`
		Items []object `json:"items"`
	}
	lists := []*list{{API: "v1", Kind: "List", Items: []object{}}}
	byKind := map[string]*list{}
	for _, o := range all {
		if !rapid.Bool().Draw(t, "in a list of its kind") {
			lists[0].Items = append(lists[0].Items, o)
			continue
		}
		key := fmt.Sprint(o["apiVersion"], o["kind"])
		if byKind[key] == nil {
			byKind[key] = &list{API: o["apiVersion"].(string), Kind: o["kind"].(string) + "List"}
			lists = append(lists, byKind[key])
		}
		byKind[key].Items = append(byKind[key].Items, object{"metadata": o["metadata"], "spec": o["spec"], "status": o["status"]})
	}
	var b strings.Builder
	for _, l := range lists {
		text, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.String()
}

// A dump of jobs of every kind, of whatever order and with whatever contradictions, is read as the jobs really ran.
func TestKubernetes_reads_the_truth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := strangers()
		want := map[string]string{}
		users := map[string]string{}
		hours := 0.0
		for i := range rapid.IntRange(1, 6).Draw(rt, "jobs") {
			j := drawTruth(rt, i)
			all = append(all, j.objects(rt)...)
			if row := j.row(); row != "" {
				want[j.team+"/"+j.name], users[j.team+"/"+j.name] = row, j.team
				hours += float64(j.pods*j.gpus) * j.ran.Hours()
			}
		}
		text := drawLists(rt, all)
		s := new(parse.Summary)
		h, err := ReadHistory(strings.NewReader(text), kubernetesFormat, parse.Options{Summary: s, OnBadRow: parse.Skip})
		if err != nil {
			rt.Fatal(err)
		}
		notes := s.String()
		for _, name := range []string{
			parse.Ignored + "ConfigMap: ", parse.Ignored + "scheduling.k8s.io/Workload: ",
			"objects of kind apps/Deployment with GPUs, not supported and ignored: ", "objects of kind example.com/PyTorchJob with GPUs, not supported and ignored: ",
		} {
			if !strings.Contains(notes, name) {
				rt.Fatalf("%s, want %q", notes, name)
			}
		}
		got, owners, sum := rowsOf(h)
		if diff := cmp.Diff(want, got); diff != "" || cmp.Diff(users, owners) != "" || math.Abs(sum-hours) > 1e-6 {
			rt.Fatalf("jobs (-want +got):\n%s%susers %v, want %v; %v GPU-hours, want %v\n%s\n%s", diff, s, owners, users, sum, hours, s, text)
		}
	})
}

func rowsOf(h *History) (rows, users map[string]string, hours float64) {
	rows, users = map[string]string{}, map[string]string{}
	for _, o := range h.Jobs {
		end := "ended"
		if o.Ended.IsZero() {
			end = "runs"
		}
		name := o.Arrival.Spec.Name
		rows[name] = fmt.Sprintf("%d GPUs, waited %v, %s after %v", o.Arrival.Spec.GPUs, o.Started.Sub(o.Submitted), end, o.Arrival.Duration)
		users[name] = o.Arrival.Spec.User
		hours += float64(o.Arrival.Spec.GPUs) * o.Arrival.Duration.Hours()
	}
	return rows, users, hours
}
