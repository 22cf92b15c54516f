//go:build linux

package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
)

// The cluster of which TestSlurm_record makes a history has nodes of eight GPUs each.
const (
	recordedNodes = 24
	recordedGPUs  = 8 * recordedNodes
)

// TestSlurm_record records the history, nodes and configuration of a real Slurm in the folder OXGANG_RECORD, as
// input for `oxgang whatif`. It checks nothing. It submits jobs for OXGANG_RECORD_MINUTES, default 60, and waits
// for their ends. With OXGANG_RECORD_RESERVE half of the nodes are reserved for the second quarter of that time
// and the third.
func TestSlurm_record(t *testing.T) {
	folder := os.Getenv("OXGANG_RECORD")
	if folder == "" {
		t.Skip("set OXGANG_RECORD to a folder to record a history of a real Slurm, for an hour and more")
	}
	lasts := time.Hour
	if text := os.Getenv("OXGANG_RECORD_MINUTES"); text != "" {
		minutes, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatalf("OXGANG_RECORD_MINUTES=%s: %v", text, err)
		}
		lasts = time.Duration(minutes * float64(time.Minute))
	}
	rig := slurmtest.Start(t, slurmtest.Options{
		Accounting: true, Groups: []slurmtest.Group{{Prefix: "n", Nodes: recordedNodes, Type: "a100", GPUs: 8}},
		Lines: []string{"PriorityMaxAge=1:00:00", "PriorityWeightQOS=0", "PriorityWeightJobSize=0"},
	})
	if os.Getenv("OXGANG_RECORD_RESERVE") != "" {
		rig.Call(t, "scontrol", "create", "reservation", "reservationname=course", fmt.Sprintf("starttime=now+%d", int(lasts.Seconds()/4)),
			fmt.Sprintf("duration=%d", int(lasts.Minutes()/2)), fmt.Sprintf("nodes=n[1-%d]", recordedNodes/2), "users=root")
	}
	submitAll(t, rig, lasts)
	for strings.TrimSpace(rig.Call(t, "squeue", "-h", "-o", "%i")) != "" {
		time.Sleep(5 * time.Second)
	}
	time.Sleep(10 * time.Second) // what the controller tells the accounting comes late
	save(t, filepath.Join(folder, "history.txt"), rig.Call(t, "sacct", "-P", "-a", "-X", "-D", "-S", "now-1days", "-o", slurm.Columns))
	save(t, filepath.Join(folder, "nodes.txt"), rig.Call(t, "scontrol", "show", "node", "-o"))
	save(t, filepath.Join(folder, "config.txt"), rig.Call(t, "scontrol", "show", "config"))
}

// submitAll submits jobs for so long: at a load of 1.3 and of 0.6 in turns, of a quarter of an hour together.
func submitAll(t *testing.T, rig *slurmtest.Rig, lasts time.Duration) {
	t.Helper()
	seed := draws.Seed(t)
	r, begin := rng.Stream(seed, "record"), time.Now()
	t.Logf("seed %d", seed)
	for at := time.Duration(0); at < lasts; {
		load := 1.3
		if at%(15*time.Minute) > 9*time.Minute {
			load = 0.6
		}
		gpus, seconds, limit := drawJob(r)
		time.Sleep(time.Until(begin.Add(at)))
		options := []string{"--gres=gpu:a100:" + strconv.Itoa(min(8, gpus)), "--time=" + strconv.Itoa(limit)}
		if gpus > 8 {
			options = append(options, "--nodes="+strconv.Itoa(gpus/8))
		}
		rig.Submit(t, fmt.Sprintf("sleep %.1f", seconds), options...)
		at += time.Duration(r.ExpFloat64() * meanGPUSeconds / (load * recordedGPUs) * float64(time.Second))
	}
}

// meanGPUSeconds is about what a job that drawJob draws takes.
const meanGPUSeconds = 1000

// drawJob returns a job: its GPUs, how long it runs, and its time limit in minutes, one to three times as long.
func drawJob(r *rand.Rand) (gpus int, seconds float64, limit int) {
	sizes := []int{1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 4, 4, 4, 8, 8, 8, 8, 16, 32}
	seconds = min(1200, max(20, 120*math.Exp(r.NormFloat64())))
	return sizes[r.IntN(len(sizes))], seconds, int(math.Ceil(seconds * (1 + 2*r.Float64()) / 60))
}

// save writes a file.
func save(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
