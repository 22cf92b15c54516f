package serve

import "testing"

func TestCgroup_by_default_where_delegated(t *testing.T) {
	delegated := func() string { return "/sys/fs/cgroup/mine" }
	for asked, want := range map[string]string{DefaultOptions().Cgroup: "/sys/fs/cgroup/mine", "": "", "/other": "/other"} {
		if got := cgroup(asked, delegated); got != want {
			t.Errorf("%q: %q, want %q", asked, got, want)
		}
	}
}
