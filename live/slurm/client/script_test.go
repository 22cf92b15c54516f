package client

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Bash reads the script, and the words of the command as they were given.
func TestScript(t *testing.T) {
	if testing.Short() {
		t.Skip("starts bash")
	}
	words := []string{"it's", `a "b" $HOME`, "c\nd", "`e`", "GRACEFUL"}
	j := ElasticJob{Command: words, Grace: time.Minute}
	script, err := j.Script()
	if err != nil {
		t.Fatal(err)
	}
	check := exec.Command("bash", "-n")
	check.Stdin = strings.NewReader(string(script))
	if out, err := check.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, script)
	}
	_, rest, _ := strings.Cut(string(script), `exec "$@"' "$began" `)
	quoted, _, _ := strings.Cut(rest, " &\n")
	out, err := exec.Command("bash", "-c", `for w in `+quoted+`; do printf '%s\0' "$w"; done`).Output()
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(got, words) {
		t.Errorf("bash reads %q, %v, want %q", got, err, words)
	}
	if !strings.Contains(string(script), "+ 60))") {
		t.Errorf("the notice lacks the grace of 60 s:\n%s", script)
	}
}

// A job with a token has it in its script, and only its digest where everybody can read; one without asks nothing.
func TestScript_token(t *testing.T) {
	j := ElasticJob{Command: []string{"true"}, Request: Request{Part: Elastic, Min: 1, Max: 1}, Token: NewToken("ann")}
	for _, secret := range []string{j.Token, ""} {
		j.Token = secret
		script, err := j.Script()
		if err != nil || !strings.Contains(string(script), "\ntoken='"+secret+"'\n") {
			t.Errorf("%v: the script has not the token %q:\n%s", err, secret, script)
		}
		options, err := j.Options(1)
		all := strings.Join(options, " ")
		if err != nil || secret != "" && (strings.Contains(all, secret) || !strings.Contains(all, ";token="+Digest(secret))) {
			t.Errorf("%q, %v: want the digest and not the token", all, err)
		}
		if secret == "" && strings.Contains(all, "token") {
			t.Errorf("%q: want no token", all)
		}
	}
}

// Jobs that have one number, as a Slurm that lost its state gives it again, have folders of their own; and each
// start of a job has that of the start before.
func TestScript_folder(t *testing.T) {
	if testing.Short() {
		t.Skip("starts bash")
	}
	folder := func(secret string) string {
		j := ElasticJob{Command: []string{"true"}, Token: secret}
		script, err := j.Script()
		if err != nil {
			t.Fatal(err)
		}
		begin, _, _ := strings.Cut(string(script), "notice=")
		run := exec.Command("bash", "-c", begin+"printf %s \"$state\"")
		run.Env = []string{"SLURM_SUBMIT_DIR=/d", "SLURM_JOB_ID=7"}
		out, err := run.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	one := NewToken("ann")
	if a, b := folder(one), folder(NewToken("ann")); a == b || a != folder(one) || !strings.HasPrefix(a, "/d/.oxgang/7-") || strings.Contains(a, one) {
		t.Errorf("folders %q and %q of two jobs of one number, want two that begin with /d/.oxgang/7- and do not tell the token", a, b)
	}
	if got := folder(""); got != "/d/.oxgang/7" {
		t.Errorf("folder %q of a job without a token, want /d/.oxgang/7", got)
	}
}

// A job does not use a folder of another user, or one behind a link of another user, who could give it checkpoints.
func TestScript_folder_of_another(t *testing.T) {
	if testing.Short() {
		t.Skip("starts bash")
	}
	if os.Getuid() != 0 {
		t.Skip("not root, who alone can make files of others")
	}
	const other = 65534
	for name, plant := range map[string]func(dir string) error{
		"none": func(string) error { return nil },
		".oxgang": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, ".oxgang"), 0o700), os.Lchown(filepath.Join(dir, ".oxgang"), other, other))
		},
		"the job's": func(dir string) error {
			path := filepath.Join(dir, ".oxgang", "7")
			return errors.Join(os.MkdirAll(path, 0o700), os.Lchown(path, other, other))
		},
		"checkpoints, a link": func(dir string) error {
			path := filepath.Join(dir, ".oxgang", "7", "checkpoints")
			return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(dir, path), os.Lchown(path, other, other))
		},
	} {
		script, err := (&ElasticJob{Command: []string{"true"}}).Script()
		if err != nil {
			t.Fatal(err)
		}
		begin, _, _ := strings.Cut(string(script), "\n# The notice")
		dir := t.TempDir()
		if err := plant(dir); err != nil {
			t.Fatal(err)
		}
		run := exec.Command("bash", "-c", begin)
		run.Env = []string{"SLURM_SUBMIT_DIR=" + dir, "SLURM_JOB_ID=7", "PATH=" + os.Getenv("PATH")}
		out, err := run.CombinedOutput()
		if (err == nil) != (name == "none") || (name != "none") != strings.Contains(string(out), "does not belong to") {
			t.Errorf("another's %s: %v, %q", name, err, out)
		}
	}
}

func TestScript_refuses(t *testing.T) {
	for name, command := range map[string][]string{"none": nil, "a zero byte": {"a\x00"}} {
		if _, err := (&ElasticJob{Command: command}).Script(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The first start has as many GPUs on each node.
func TestOptions(t *testing.T) {
	for _, test := range []struct {
		least, perNode int
		want           string // nodes and GPUs of each; empty: an error
	}{{1, 4, "--nodes=1 --gres=gpu:1"}, {4, 4, "--nodes=1 --gres=gpu:4"}, {6, 4, "--nodes=2 --gres=gpu:3"}, {5, 4, ""}, {1, 0, ""}} {
		j := ElasticJob{Request: Request{Part: Elastic, Min: test.least, Max: 16}, Limit: 90 * time.Second}
		got, err := j.Options(test.perNode)
		text := strings.Join(got, " ")
		if (err != nil) != (test.want == "") || !strings.Contains(text, test.want) {
			t.Errorf("%d on nodes of %d: %q, %v, want %q", test.least, test.perNode, text, err, test.want)
		}
		if err == nil && (!slices.Contains(got, "--time=2") || !slices.Contains(got, "--requeue")) {
			t.Errorf("%q: want two minutes, and that it may be requeued", got)
		}
	}
}

func TestMostGPUs(t *testing.T) {
	nodes := []Node{
		{Partitions: []string{"gpu"}, GPUs: GPUs{"a100": 4}},
		{Partitions: []string{"gpu"}, GPUs: GPUs{"h100": 8}},
		{Partitions: []string{"big"}, GPUs: GPUs{"a100": 16}},
		{Partitions: []string{"gpu"}},
	}
	for _, test := range []struct {
		partition string
		types     []string
		want      int
	}{{"gpu", nil, 8}, {"gpu", []string{"a100"}, 4}, {"", []string{"a100"}, 16}, {"cpu", nil, 0}} {
		if got := MostGPUs(nodes, test.partition, test.types); got != test.want {
			t.Errorf("%s, %v: %d, want %d", test.partition, test.types, got, test.want)
		}
	}
}
