//go:build linux

package client_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
)

var record = flag.Bool("record", false, "write what a real Slurm prints to testdata")

// shapes is a Slurm in which much is the case at once.
func shapes(t *testing.T) *slurmtest.Rig {
	r := slurmtest.Start(t, slurmtest.Options{
		Accounting: true,
		Groups: []slurmtest.Group{
			{Prefix: "a", Nodes: 2, Type: "a100", GPUs: 8},
			{Prefix: "h", Nodes: 2, Type: "h100", GPUs: 8},
			{Prefix: "u", Nodes: 1, GPUs: 4},
			{Prefix: "c", Nodes: 1},
			{Prefix: "gone", Nodes: 1, Type: "a100", GPUs: 8, Absent: true},
		},
		Lines: []string{
			"SlurmdTimeout=3",
			"PartitionName=all Nodes=ALL Default=YES MaxTime=7-00:00:00 DefaultTime=1:00:00",
			"PartitionName=big Nodes=h[1-2] PriorityTier=2 MaxTime=UNLIMITED AllowAccounts=ml",
		},
	})
	for _, line := range []string{
		"-i add qos small set MaxTRESPerUser=gres/gpu=4 GrpTRES=gres/gpu:a100=12 MaxWall=2-00:00:00 Priority=7 MaxJobsPerUser=2",
		"-i modify user root set qos+=small",
	} {
		r.Call(t, "sacctmgr", strings.Fields(line)...)
	}
	return r
}

// busy submits jobs of all kinds and returns when those of them that can run do.
func busy(t *testing.T, r *slurmtest.Rig) {
	first := r.Submit(t, "sleep 1000", "--job-name=two words", "--comment=oxgang:elastic=2..16", "--gres=gpu:a100:8", "--nodes=2", "--ntasks-per-node=1", "--time=30")
	r.Submit(t, "sleep 1000", "--job-name=hh", "--gpus=h100:3", "--time=1:00:00")
	array := r.Submit(t, "sleep 1000", "--job-name=arr", "--array=0-9%2", "--gres=gpu:1", "--time=10")
	het := r.Submit(t, "sleep 1000", "--job-name=het", "--gres=gpu:h100:2", "--time=10", ":", "--gres=gpu:h100:1", "--ntasks=2")
	r.Submit(t, "true", "--job-name=held", "--hold", "--gpus-per-task=2", "--ntasks=2", "--time=10")
	r.Submit(t, "true", "--job-name=later", "--begin=now+1hour", "--gres=gpu:2")
	r.Submit(t, "true", "--job-name=after", "--dependency=afterany:"+first.String(), "--gres=gpu:h100:8")
	r.Submit(t, "sleep 1000", "--job-name=cpu", "--ntasks=4", "--mem=1000")
	r.Submit(t, "true", "--job-name=pipe|name", "--gres=gpu:h100:8", "--partition=big,all", "--time=UNLIMITED", "--nice=5")
	r.Submit(t, "true", "--job-name=line", "--comment=a | b Priority of mine", "--gres=gpu:h100:8", "--nodelist=h1", "--exclude=h2")
	r.Submit(t, "true", "--job-name=limited", "--qos=small", "--gres=gpu:h100:5")
	again := r.Submit(t, "sleep 1000", "--job-name=again", "--gres=gpu:h100:1")
	ended := r.Submit(t, "exit 3", "--job-name=ended", "--ntasks=1")
	running := func(j *client.Job) bool { return j.State == client.Running }
	for _, id := range []client.ID{first, array + 1, het, again} {
		r.Until(t, id, "its start", running)
	}
	r.Until(t, ended, "its end", func(j *client.Job) bool { return j.State == client.Failure })
	r.Call(t, "scontrol", "requeuehold", again.String())
	r.Until(t, again, "its requeue", (*client.Job).IsHeld)
	r.Call(t, "scontrol", "update", "nodename=c1", "state=drain", "reason=bad disk | fan")
	r.Call(t, "scontrol", "create", "reservation", "reservationname=maint", "starttime=now+600", "duration=60", "nodes=h2", "users=root", "flags=maint,ignore_jobs")
}

// recorded is what is kept of a real Slurm: the file, and the command.
var recorded = map[string]string{
	"squeue.json":            "squeue --json",
	"sinfo.json":             "sinfo --json",
	"scontrol-job.txt":       "scontrol -o -d show job",
	"scontrol-job-plain.txt": "scontrol -o show job",
	"scontrol-node.txt":      "scontrol -o -d show node",
	"scontrol-node-bare.txt": "scontrol -o show node",
	"partitions.txt":         "scontrol -o show partition",
	"reservations.txt":       "scontrol -o show reservation",
	"qos.txt":                "sacctmgr -n -P show qos format=" + client.QOSColumns,
	"sacct.txt":              "sacct -n -P -a -X -D --delimiter=\x1f -S now-1hour -o " + client.RunColumns,
}

// TestSlurm_shapes: of a real Slurm, JSON and text say the same.
func TestSlurm_shapes(t *testing.T) {
	r := shapes(t)
	if *record {
		keep(t, r, map[string]string{"empty-squeue.json": "squeue --json", "empty-job.txt": "scontrol -o show job", "empty-reservations.txt": "scontrol -o show reservation", "empty-sacct.txt": recorded["sacct.txt"]})
	}
	busy(t, r)
	if *record {
		keep(t, r, recorded)
	}
	c, text := r.Client(), r.Client()
	text.Text = true
	compare(t, r, c, text)
	ctx := t.Context()
	parts, err := c.Partitions(ctx)
	if err != nil || len(parts) != 2 || parts[1].Name != "big" {
		t.Errorf("partitions %+v, %v, want all and big", parts, err)
	}
	resv, err := c.Reservations(ctx)
	if err != nil || len(resv) != 1 || resv[0].Name != "maint" || resv[0].Active() {
		t.Errorf("reservations %+v, %v, want maint, later", resv, err)
	}
	qos, err := c.QOS(ctx)
	if err != nil || len(qos) != 2 || qos[1].GPUsPerUser.Total() != 4 || qos[1].GPUs["a100"] != 12 {
		t.Errorf("QOS %+v, %v, want normal and small", qos, err)
	}
	complaints(t, c)
}

// compare compares what both forms say, as far as both can. A round may fall between the two calls, so it is tried thrice.
func compare(t *testing.T, r *slurmtest.Rig, c, text *client.Client) {
	ctx, diff := t.Context(), ""
	for range 3 {
		a, err := c.Jobs(ctx)
		if err != nil {
			t.Fatal(err)
		}
		b, err := text.Jobs(ctx)
		if err != nil {
			t.Fatal(err)
		}
		// Only JSON has all flags; text says in words why a job was requeued.
		if diff = cmp.Diff(a, b, cmpopts.IgnoreFields(client.Job{}, "Flags", "Reason"), cmpopts.EquateEmpty()); diff == "" {
			break
		}
	}
	if diff != "" {
		t.Errorf("JSON and text of jobs differ:\n%s", diff)
	}
	sinfo, err := r.As("root")(ctx, client.Command{Name: "sinfo", Args: []string{"--json"}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := client.ParseNodes(sinfo)
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Nodes(ctx)
	if diff := cmp.Diff(a, b, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(client.Node{}, "Flags")); err != nil || diff != "" {
		t.Errorf("JSON and text of nodes differ: %v\n%s", err, diff)
	}
	for i := range min(len(a), len(b)) {
		if a[i].Usable() != b[i].Usable() {
			t.Errorf("node %s: usable %v by JSON with %v, %v by text with %v", a[i].Name, a[i].Usable(), a[i].Flags, b[i].Usable(), b[i].Flags)
		}
	}
}

// complaints checks that what Slurm refuses is named, in its words.
func complaints(t *testing.T, c *client.Client) {
	ctx := t.Context()
	unknown := client.ID(9999)
	for what, err := range map[string]error{
		"hold":        c.Hold(ctx, unknown),
		"release":     c.Release(ctx, unknown),
		"requeuehold": c.Requeuehold(ctx, unknown),
		"update":      c.Update(ctx, unknown, client.Field{Name: "Priority", Value: "3"}),
	} {
		if err == nil || !strings.Contains(err.Error(), "Invalid job id") {
			t.Errorf("%s of a job that is not there: %v, want Slurm's words", what, err)
		}
	}
}

// keep writes what commands print to testdata.
func keep(t *testing.T, r *slurmtest.Rig, commands map[string]string) {
	for file, line := range commands {
		words := strings.Split(line, " ")
		out, err := r.As("root")(context.Background(), client.Command{Name: words[0], Args: words[1:]})
		if err != nil {
			t.Fatal(err)
		}
		out = []byte(strings.ReplaceAll(string(out), r.Folder, "/var/lib/slurm"))
		if err := os.WriteFile(filepath.Join("testdata", file), out, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
