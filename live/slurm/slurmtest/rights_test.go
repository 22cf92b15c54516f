//go:build linux

package slurmtest

import (
	"fmt"
	"testing"

	"github.com/oxgang/oxgang/live/slurm/client"
)

// TestRig_rights: what the marks and tokens of jobs rely on. A user without rights changes neither another's job nor
// the AdminComment of his own; his own Comment he may write.
func TestRig_rights(t *testing.T) {
	r := Start(t, Options{})
	other := r.As("nobody")
	try := func(name string, args ...string) error {
		_, err := other(t.Context(), client.Command{Name: name, Args: args})
		return err
	}
	victim := r.Submit(t, "sleep 1000", "--hold", "--gres=gpu:1", "--comment=mine")
	before := r.Call(t, "scontrol", "show", "job", fmt.Sprint(victim))
	for _, args := range [][]string{
		{"update", "jobid=" + fmt.Sprint(victim), "comment=forged"},
		{"update", "jobid=" + fmt.Sprint(victim), "admincomment=forged"},
		{"update", "jobid=" + fmt.Sprint(victim), "nice=-100"},
		{"release", fmt.Sprint(victim)},
		{"requeuehold", fmt.Sprint(victim)},
	} {
		if err := try("scontrol", args...); err == nil {
			t.Errorf("a user without rights may %v", args)
		}
	}
	if err := try("scancel", fmt.Sprint(victim)); err == nil {
		t.Error("a user without rights may cancel the job of another")
	}
	if after := r.Call(t, "scontrol", "show", "job", fmt.Sprint(victim)); after != before {
		t.Errorf("the job was\n%s\nand is\n%s", before, after)
	}
	own, err := (&client.Client{Run: other}).Submit(t.Context(), []byte("#!/bin/sh\nsleep 1000\n"), "--output=/dev/null", "--hold", "--gres=gpu:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := try("scontrol", "update", "jobid="+fmt.Sprint(own), "comment=own"); err != nil {
		t.Errorf("a user may not write the comment of his own job: %v", err)
	}
	if err := try("scontrol", "update", "jobid="+fmt.Sprint(own), "admincomment=forged"); err == nil {
		t.Error("a user may write the AdminComment of his own job")
	}
}
