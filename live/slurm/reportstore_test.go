package slurm

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/model/job"
)

func record() *programState {
	return &programState{
		Token: "t", Progress: 12, Epoch: 1,
		Hello: &agentapi.Hello{Version: 1, Client: "test", Generation: 1, WorldSize: 2, Batch: agentapi.BatchLimits{Init: 8, Max: 8}},
	}
}

// A record is as it was kept, until it is dropped; and is none of another job with its number.
func TestFolder(t *testing.T) {
	f := reportStore(filepath.Join(t.TempDir(), "agents"))
	if got, err := f.Load("1", "t"); err != nil || got.Hello != nil {
		t.Errorf("got %+v, %v, want that there is none", got, err)
	}
	if err := f.save("1", record()); err != nil {
		t.Fatal(err)
	}
	got, err := f.Load("1", "t")
	if diff := cmp.Diff(record(), &got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := f.Load("1", "another"); err != nil || got.Hello != nil {
		t.Errorf("of another job: got %+v, %v, want none", got, err)
	}
	for range 2 {
		if err := f.drop("1"); err != nil {
			t.Error(err)
		}
	}
	if got, err := f.Load("1", "t"); err != nil || got.Hello != nil {
		t.Errorf("dropped: got %+v, %v, want none", got, err)
	}
}

// What is no record is not believed.
func TestLoad_refuses(t *testing.T) {
	f := reportStore(t.TempDir())
	for _, text := range []string{"", "{", `{"token":"t"}`, `{"token":"t","hello":{"version":1}}`, `{"token":"t","progress":-1,"hello":{}}`} {
		if err := os.WriteFile(f.path("1"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Load("1", "t"); err == nil || got.Hello != nil {
			t.Errorf("%s: got %+v, %v, want an error", text, got, err)
		}
	}
}

func TestPrune(t *testing.T) {
	f := reportStore(t.TempDir())
	for _, id := range []job.ID{"1", "2"} {
		if err := f.save(id, record()); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(string(f), "new-1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Prune(func(id job.ID) bool { return id == "2" }); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(string(f)); err != nil || len(left) != 1 || left[0].Name() != "2.json" {
		t.Errorf("left are %v, %v, want 2.json", left, err)
	}
}
