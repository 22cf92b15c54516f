package manager

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const head = "apiVersion: " + configVersion + "\nkind: " + configKind + "\n"

func TestLoad(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"what is not said is the default", head, ""},
		{"something that is said", head + "log: {format: text, level: debug}\nleaderElection: {enabled: false}\n", ""},
		{"a key that nobody knows", head + "mode: Resize\n", `unknown field "mode"`},
		{"a key twice", head + "journals: a\njournals: b\n", `key "journals" already set`},
		{"another kind", "apiVersion: v1\nkind: ConfigMap\n", "it is a ConfigMap of v1, want a " + configKind},
		{"no YAML", "{", "yaml"},
		{"a lease shorter than its renewal", head + "leaderElection: {leaseDuration: 4s}\n", "renewDeadline 5s, leaseDuration 4s, want them more than 0 and ascending"},
		{"a format that nobody knows", head + "log: {format: xml}\n", `log.format "xml", want json or text`},
		{"a level that nobody knows", head + "log: {level: loud}\n", `log.level "loud", want debug`},
		{"tokens for nobody", head + "agents: {audience: ''}\n", "agents.audience is empty"},
		{"a certificate for nobody", head + "agents: {names: []}\n", "names [], want one at least"},
		{"fewer than no requests", head + "client: {qps: -1}\n", "qps -1 and burst 400, want at least 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := Load(path)
			switch {
			case c.want == "" && err != nil:
				t.Fatal(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path)):
				t.Fatalf("%v, want an error of %s with %q", err, path, c.want)
			case c.want == "":
				want := DefaultConfig()
				if c.text != head {
					want.Log, want.LeaderElection.Enabled = log{"text", "debug"}, false
				}
				if diff := cmp.Diff(&want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("want an error of a file that is not there")
	}
}

// All complaints come at once.
func TestValidate(t *testing.T) {
	c := Config{Client: Client{Burst: -1}, LeaderElection: leaderElection{Enabled: true}}
	err := c.Validate()
	if err == nil {
		t.Fatal("want complaints")
	}
	for _, want := range []string{"it is a", "leaderElection", "log.format", "burst -1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want something about %s", err, want)
		}
	}
}

// Without a file it can lead: the defaults are all that its certificate takes.
func TestDefaultConfig(t *testing.T) {
	l := &leader{o: Options{Config: DefaultConfig()}}
	if err := l.certify(); err != nil || l.certs == nil {
		t.Errorf("got certificate %v, error %v; want one and none", l.certs != nil, err)
	}
}
