package lab

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/oxgang/oxgang/lab/sweep"
)

const swept = "axes:\n  policy: [fifo, easy]\n  seed: 1..3\nset:\n  generate.jobs: 3\n\n  cluster: \"v100:2x4\"\n"

func printed(t *testing.T, kind, text string) string {
	t.Helper()
	sw, err := sweep.Read(strings.NewReader(text), "My sweep.yaml", checkSwept)
	if err != nil {
		t.Fatal(err)
	}
	b := &batch{shards: 4, cpus: 2, memory: "4G", image: "i:1", claim: "c"}
	var out bytes.Buffer
	if err := b.write(&out, kind, "My sweep.yaml", []byte(text), sw); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The manifest is a ConfigMap that holds the file, and a Job whose pods together run all parts.
func TestBatch_kubernetes(t *testing.T) {
	documents := strings.Split(printed(t, "kubernetes", swept), "---\n")
	var held corev1.ConfigMap
	var j batchv1.Job
	for i, into := range []any{&held, &j} {
		if err := yaml.UnmarshalStrict([]byte(documents[i]), into); err != nil {
			t.Fatal(err)
		}
	}
	if held.Data["sweep.yaml"] != swept {
		t.Errorf("the ConfigMap holds %q, want the file", held.Data["sweep.yaml"])
	}
	pod := j.Spec.Template.Spec
	if *j.Spec.CompletionMode != batchv1.IndexedCompletion || *j.Spec.Completions != 4 || *j.Spec.Parallelism != 4 || *j.Spec.BackoffLimitPerIndex == 0 {
		t.Errorf("job %+v, want an indexed one of 4 pods, each tried again", j.Spec)
	}
	parts := make(map[sweep.Shard]bool)
	for index := range *j.Spec.Completions {
		args := strings.ReplaceAll(strings.Join(pod.Containers[0].Args, "\n"), "$(JOB_COMPLETION_INDEX)", fmt.Sprint(index))
		command, flags, found := strings.Cut(args, "\n/")
		if !found || command != "lab\nsweep" {
			t.Fatalf("arguments %q, want lab sweep and a file", args)
		}
		cmd := sweepCommand()
		if err := cmd.ParseFlags(strings.Split(flags, "\n")[1:]); err != nil {
			t.Fatal(err)
		}
		part, err := sweep.ParseShard(cmd.Flag("shard").Value.String())
		if err != nil {
			t.Fatal(err)
		}
		parts[part] = true
		if out := cmd.Flag("out").Value.String(); out != "/out/oxgang-my-sweep" {
			t.Errorf("the output goes to %s, want the claim", out)
		}
	}
	if len(parts) != 4 || pod.Volumes[1].PersistentVolumeClaim.ClaimName != "c" || pod.Containers[0].Image != "i:1" {
		t.Errorf("parts %v, pod %+v", parts, pod)
	}
}

// Pods do not have the files of this machine.
func TestBatch_kubernetes_files(t *testing.T) {
	text := "axes:\n  policy: [fifo]\nset:\n  trace: "
	for file, want := range map[string]bool{"w.csv": false, "/out/../w.csv": false, "/out/w.csv": true} {
		sw, err := sweep.Read(strings.NewReader(text+file), "s.yaml", checkSwept)
		if err != nil {
			t.Fatal(err)
		}
		b := &batch{shards: 1, cpus: 1, memory: "1G"}
		if err := b.write(new(bytes.Buffer), "kubernetes", "s.yaml", nil, sw); (err == nil) != want {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// There are no more parts than runs, and the shell sees each name as one word.
func TestBatch_slurm(t *testing.T) {
	script := printed(t, "slurm", "axes:\n  policy: [fifo]\n  seed: 1..3\n")
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"#SBATCH --array=0-2\n", "#SBATCH --requeue\n", "exec oxgang lab sweep '" + dir + "/My sweep.yaml' ", ` --shard "$SLURM_ARRAY_TASK_ID/3" `} {
		if !strings.Contains(script, want) {
			t.Errorf("no %q in\n%s", want, script)
		}
	}
	if got := shellQuoted("it's"); got != `'it'\''s'` {
		t.Errorf("quoted %s", got)
	}
}
