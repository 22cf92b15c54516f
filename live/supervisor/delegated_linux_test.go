package supervisor

import (
	"slices"
	"testing"
)

// The nearest delegated group is found, and none where version 2 has none.
func TestDelegated(t *testing.T) {
	const service = "0::/user.slice/user@1000.service/app.slice/oxgang.service\n"
	for _, c := range []struct {
		name, text string
		marked     []string
		want       string
	}{
		{"of the service", service, []string{"/c/user.slice/user@1000.service/app.slice/oxgang.service", "/c/user.slice/user@1000.service"}, "/c/user.slice/user@1000.service/app.slice/oxgang.service"},
		{"of the user", service, []string{"/c/user.slice/user@1000.service"}, "/c/user.slice/user@1000.service"},
		{"none", service, nil, ""},
		{"the root is nobody's", "0::/\n", []string{"/c"}, ""},
		{"version 1", "5:cpu:/a\n1:name=systemd:/a\n", []string{"/c/a"}, ""},
		{"both", "5:cpu:/b\n0::/a\n", []string{"/c/a", "/c/b"}, "/c/a"},
		{"outside", "0::/../a\n", []string{"/a", "/c/a"}, ""},
	} {
		got := delegated(c.text, "/c", func(dir string) bool { return slices.Contains(c.marked, dir) })
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
