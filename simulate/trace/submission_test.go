package trace

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
)

// Files that users submit are read with the GPUs that their system would give them, or refused with the reason.
func TestReadSubmission(t *testing.T) {
	const head = "#!/bin/bash\n"
	tests := []struct{ text, want string }{
		{head + "#SBATCH --gres=gpu:a100:4 --nodes=2-4\n#SBATCH -J llm -p big --time=1-02\n", "llm in big: 8 GPUs [a100], 4 each, 93600 s, 0 cores"},
		{head + "#SBATCH -G 3 # of any type\n#SBATCH --cpus-per-gpu 4\n", ": 3 GPUs [], 0 each, 0 s, 12 cores"},
		{head + "#SBATCH -N2 --gpus-per-node=h100:8 -t 90\n", ": 16 GPUs [h100], 8 each, 5400 s, 0 cores"},
		{head + "#SBATCH --ntasks=6 -c4 --gpus-per-task=1 -t 1:30:00\n", ": 6 GPUs [], 0 each, 5400 s, 24 cores"},
		{head + "#SBATCH --gpus=a100:2,h100:1\n", ": 3 GPUs [a100 h100], 0 each, 0 s, 0 cores"},
		{head + "srun hostname\n#SBATCH --gpus=2\n", "error: the script requests no GPUs, want an option such as --gpus=2 or --gres=gpu:2"},
		{head + "#SBATCH --gres=gpu:1g.10gb:2\n", "error: --gres=\"gpu:1g.10gb:2\": parts of GPUs (1g.10gb) are not supported"},
		{head + "#SBATCH --gpus=many\n", "error: --gpus=\"many\", want a number of GPUs, or one like a100:2"},
		{head + "#SBATCH --gpus=1 --time=soon\n", "error: --time=\"soon\", want minutes, or a time like 1-02:03:04"},
		{head + "#SBATCH --gpus=1 --nodes=few\n", "error: --nodes=\"few\", want a whole number"},
		{`{"name": "b", "gpus": 2, "gpu_types": ["t4"]}`, "b: 2 GPUs [t4], 0 each, 0 s, 0 cores"},
		{"{\n \"gpus\": 0\n}", "error: "},
		{`{"gpu": 2}`, `error: `},
		{"kind: Job\napiVersion: batch/v1\nspec: {Parallelism: 2, template: {}}\n", "error: spec: unknown key \"Parallelism\", want \"parallelism\""},
		{"Kind: Job\napiVersion: batch/v1\n", "error: want a script"},
		{"kind: Job\napiVersion: batch/v1\nspec: {template: {spec: {Containers: []}}}\n", "error: spec: unknown key \"Containers\", want \"containers\""},
		{"hello", "error: want a script for sbatch"},
		{"apiVersion: apps/v1\nkind: Deployment\n", "error: no job that is supported: found Deployment"},
		{"---\nkind: Service\napiVersion: v1\n---\nkind: Job\napiVersion: batch/v1\nmetadata: {name: j}\nspec: {template: {spec: {containers: [{resources: {limits: {amd.com/gpu: 2}}}]}}}\n", "j: 2 GPUs [], 2 each, 0 s, 0 cores"},
		{"kind: Job\napiVersion: batch/v1\nspec: {template: {spec: {containers: [{resources: {limits: {google.com/tpu: 2}}}]}}}\n", "error: job : 0 GPUs and with google.com/tpu are not supported"},
	}
	for _, tc := range tests {
		if got := submitted(tc.text); got != tc.want && (!strings.HasPrefix(tc.want, "error") || !strings.HasPrefix(got, tc.want)) {
			t.Errorf("%q\n got %s\nwant %s", tc.text, got, tc.want)
		}
	}
}

func submitted(text string) string {
	spec, err := ReadSubmission([]byte(text), "f")
	if err != nil {
		return "error: " + strings.TrimPrefix(err.Error(), "f: ")
	}
	queue := ""
	if spec.Queue != "" {
		queue = " in " + spec.Queue
	}
	return fmt.Sprintf("%s%s: %d GPUs %v, %d each, %g s, %g cores", spec.Name, queue, spec.GPUs, spec.GPUTypes, spec.WorkerGPUs, spec.Target, spec.CPUs)
}

// Manifests with several kinds of pods are read with all their GPUs.
func TestReadSubmission_cases(t *testing.T) {
	for file, want := range map[string]string{
		"09-k8s-gpu-in-sidecars-and-init/job.yaml":     "sidecar-gpu in research: 10 GPUs [], 5 each, 0 s, 1.1 cores",
		"13-jobset-driver-and-leader/jobset.yaml":      "llm in research: 72 GPUs [], 8 each, 0 s, 2 cores",
		"14-rayjob-groups-and-autoscaling/rayjob.yaml": "rl in research: 36 GPUs [nvidia-h100 nvidia-l40s], 0 each, 0 s, 4 cores",
		"11-k8s-resource-claims/all.yaml":              "error: job dra-exact: resource claims are not supported",
	} {
		text := readCase(t, file)
		if got := submitted(text); got != want {
			t.Errorf("%s:\n got %s\nwant %s", testdata.Case(t, file), got, want)
		}
	}
}

// A key that occurs twice is an error: only the second value would count.
func TestReadSubmission_refuses_a_doubled_key(t *testing.T) {
	if _, err := ReadSubmission([]byte(`{"gpus":1,"gpus":2}`), "f"); err == nil || !strings.Contains(err.Error(), `key "gpus" occurs twice`) {
		t.Errorf("%v", err)
	}
}

// Numbers of bytes keep all their digits.
func TestReadSubmission_large_numbers(t *testing.T) {
	const bytes = 1<<53 + 1
	text := fmt.Sprintf(`{"gpus": 1, "id": null, "memory_bytes": %d}`, int64(bytes))
	if spec, err := ReadSubmission([]byte(text), "f"); err != nil || spec.Memory != bytes {
		t.Errorf("got %+v (%v), want %d bytes", spec, err, int64(bytes))
	}
}

// A JSON object with many doubled keys is refused at once. The reader of YAML compares all pairs of keys.
func TestReadSubmission_many_doubled_keys(t *testing.T) {
	text := "{" + strings.Repeat(`"k": 1, `, 8000) + `"gpus": 1}`
	began := time.Now()
	if _, err := ReadSubmission([]byte(text), "f"); err == nil || !strings.Contains(err.Error(), "occurs twice") || time.Since(began) > 2*time.Second {
		t.Errorf("after %v: %v, want at once that a key occurs twice", time.Since(began), err)
	}
}
