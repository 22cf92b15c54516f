package gpuuse

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/oxgang/oxgang/live/status"
)

// Each idle GPU-second is in the log once, also after a line that was cut off at the end by a crash.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	if all, err := ReadLog(dir); err != nil || all != nil {
		t.Errorf("without a log: %v, %v", all, err)
	}
	b := newBench(onOneNode(status.Holder{Job: "a", GPUs: 4}))
	for _, minutes := range []int{3, 0, 2} {
		b.minutes(minutes, "gpu-01", 0, 0, 0, 0)
		if err := b.m.Append(dir); err != nil {
			t.Fatal(err)
		}
	}
	all, err := ReadLog(dir)
	if err != nil || len(all) != 2 || all[0].GPUSeconds != 4*2*60 || all[1].GPUSeconds != 4*2*60 || all[1].Job != "a" || !all[1].At.Equal(b.at) {
		t.Errorf("%+v, %v", all, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, logName))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, logName), text[:len(text)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	if cut, err := ReadLog(dir); err != nil || len(cut) != 1 {
		t.Errorf("cut off: %v, %v", cut, err)
	}
}
