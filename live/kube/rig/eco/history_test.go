package eco

import (
	"compress/gzip"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/rig"
)

// TestRecordHistory records what a real Kueue and kube-scheduler do with jobs on fake nodes, as kubectl prints it: in
// OXGANG_RECORD/NAME.json.gz, where NAME is OXGANG_RECORD_NAME. It takes OXGANG_RECORD_MINUTES, and a while until the last job has ended.
func TestRecordHistory(t *testing.T) {
	to := os.Getenv("OXGANG_RECORD")
	if to == "" {
		t.Skip("half an hour: OXGANG_RECORD names the folder for a history")
	}
	minutes, err := strconv.Atoi(os.Getenv("OXGANG_RECORD_MINUTES"))
	if err != nil {
		t.Fatal(err)
	}
	c := rig.Start(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 8}, {Type: "t4", Count: 8, GPUs: 4}}})
	Start(t, c, Kueue)
	apply(t, c, "history.yaml", "")
	go ends(t.Context(), t, c)
	r := rand.New(rand.NewPCG(uint64(minutes), 7))
	begin, jobs := time.Now(), 0
	for time.Since(begin) < time.Duration(minutes)*time.Minute {
		submits(t, c, r, jobs)
		jobs++
		time.Sleep(time.Duration(r.ExpFloat64() * float64(5*time.Second)))
	}
	idle := func(ctx context.Context) error {
		said, err := kubectl(ctx, c, "", "get", "jobs", "-o", `jsonpath={range .items[*]}{.status.completionTime}{"\n"}{end}`)
		if err == nil && len(strings.Fields(said)) < jobs {
			err = fmt.Errorf("%d of %d jobs have ended", len(strings.Fields(said)), jobs)
		}
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if err := rig.Until(ctx, "the end of all jobs", func() error { return idle(ctx) }); err != nil {
		t.Fatal(err)
	}
	said, err := kubectl(t.Context(), c, "", "get", "-A", "-o", "json",
		"nodes,resourceflavors.kueue.x-k8s.io,clusterqueues.kueue.x-k8s.io,localqueues.kueue.x-k8s.io,workloads.kueue.x-k8s.io,jobs.batch,pods")
	if err != nil {
		t.Fatal(err)
	}
	if err := pack(filepath.Join(to, os.Getenv("OXGANG_RECORD_NAME")+".json.gz"), said); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d jobs in %s", jobs, time.Since(begin))
}

// pack writes a text to a file, compressed.
func pack(name, text string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte(text)); err != nil {
		return err
	}
	return z.Close()
}

// submits makes a job of 1 to 16 GPUs that lasts 20 s to 8 min, for one of three queues; every fifth has a higher priority.
func submits(t *testing.T, c *rig.Cluster, r *rand.Rand, i int) {
	t.Helper()
	shape := [][2]int{{1, 1}, {1, 1}, {1, 2}, {1, 4}, {1, 4}, {2, 4}, {4, 2}, {2, 8}}[r.IntN(8)]
	kind, priority := "a100", "low"
	if shape[1] <= 4 && r.IntN(2) == 0 {
		kind = "t4"
	}
	if r.IntN(5) == 0 {
		priority = "high"
	}
	lasts := time.Duration(min(480, max(20, 70*math.Exp(r.NormFloat64())))) * time.Second
	queue := []string{"a", "a", "b", "c"}[r.IntN(4)]
	apply(t, c, "historic.yaml", fmt.Sprint("j", i), "WORKERS", fmt.Sprint(shape[0]), "GPUS", fmt.Sprint(shape[1]), "QUEUE", queue,
		"KIND", kind, "PRIORITY", priority, "LASTS", lasts.String())
}

// ends ends the pods of a job so long after all of them have begun as their annotation says.
func ends(ctx context.Context, t *testing.T, c *rig.Cluster) {
	for ctx.Err() == nil {
		time.Sleep(500 * time.Millisecond)
		all, err := c.Client().CoreV1().Pods("default").List(ctx, metav1.ListOptions{FieldSelector: "status.phase=Running"})
		if err != nil {
			continue
		}
		begun := map[string][]*corev1.Pod{}
		for i := range all.Items {
			name := all.Items[i].Labels["job-name"]
			begun[name] = append(begun[name], &all.Items[i])
		}
		for _, pods := range begun {
			if !over(pods) {
				continue
			}
			for _, p := range pods {
				if err := c.Exit(ctx, p, 0); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		}
	}
}

// over reports whether the job of these pods has run for as long as it is to.
func over(pods []*corev1.Pod) bool {
	marks := pods[0].Annotations
	lasts, err := time.ParseDuration(marks["rig.oxgang.dev/lasts"])
	if err != nil || marks["rig.oxgang.dev/workers"] != strconv.Itoa(len(pods)) {
		return err == nil && pods[0].Annotations[rig.ExitCode] != ""
	}
	for _, p := range pods {
		if p.Status.StartTime == nil || time.Since(p.Status.StartTime.Time) < lasts {
			return false
		}
	}
	return true
}
