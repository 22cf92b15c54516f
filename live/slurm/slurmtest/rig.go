//go:build linux

package slurmtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
)

// A Group is a number of equal nodes, named by a prefix and a number from 1.
type Group struct {
	Prefix string // letters
	Nodes  int
	Type   string // empty: untyped
	GPUs   int    // of each node; 0: none
	CPUs   int    // of each node; 0: 32
	Memory int    // megabytes of each node; 0: 100000
	Absent bool   // runs no slurmd
}

// Options configure a rig.
type Options struct {
	Groups     []Group  // none: a[1-2] with 8 a100 GPUs and h[1-2] with 8 h100 GPUs
	Accounting bool     // slurmdbd, with an account ml and an association for each of Users
	Users      []string // default: root and "nobody"
	Lines      []string // added to slurm.conf; without a PartitionName line, partition all has all nodes
}

// A Rig is a Slurm cluster that runs on this machine for a test.
type Rig struct {
	Folder  string
	options Options
	ports   map[string]int
	daemons map[string]*daemon // by name, such as slurmd-a1
}

const asked = "SLURMRIG"

var programs = map[string]string{
	"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "scontrol": "slurm-client",
	"slurmdbd": "slurmdbd", "mariadbd": "mariadb-server", "mariadb-install-db": "mariadb-server",
}

// missing returns why no Rig can run on this machine, or nil if it can.
func missing() error {
	if os.Getuid() != 0 {
		return errors.New("not root: only root can start slurmd and make device files")
	}
	for program, of := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("no %s: apt-get install %s", program, of)
		}
	}
	return nil
}

// Start starts a Slurm cluster for a test. It skips the test if this machine cannot run one.
func Start(t testing.TB, o Options) *Rig {
	t.Helper()
	if os.Getenv(asked) == "" {
		t.Skipf("a real Slurm: set %s=1, as make slurm-test does", asked)
	}
	if err := missing(); err != nil {
		t.Skipf("a real Slurm: %v", err)
	}
	r, err := open(t.Context(), o)
	if r != nil {
		t.Cleanup(r.Close)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// open starts a Slurm cluster and waits for its nodes. Close the Rig even after an error, unless it is nil.
func open(ctx context.Context, o Options) (*Rig, error) {
	folder, err := os.MkdirTemp("", "slurmrig")
	if err != nil {
		return nil, err
	}
	r := &Rig{Folder: folder, options: o.filled(), daemons: make(map[string]*daemon)}
	if r.ports, err = freePorts(r.listeners()); err != nil {
		return r, err
	}
	for _, step := range []func(context.Context) error{
		r.writeFiles, r.startMunge, r.startDatabase, r.StartController, r.startNodes,
	} {
		if err := step(ctx); err != nil {
			return r, fmt.Errorf("%w\n%s", err, r.complaints())
		}
	}
	return r, nil
}

func (o Options) filled() Options {
	if len(o.Groups) == 0 {
		o.Groups = []Group{{Prefix: "a", Nodes: 2, Type: "a100", GPUs: 8}, {Prefix: "h", Nodes: 2, Type: "h100", GPUs: 8}}
	}
	if len(o.Users) == 0 {
		o.Users = []string{"root", "nobody"}
	}
	return o
}

func (g *Group) nodes() []string {
	var all []string
	for i := range g.Nodes {
		all = append(all, fmt.Sprintf("%s%d", g.Prefix, i+1))
	}
	return all
}

func (r *Rig) listeners() []string {
	all := []string{"slurmctld", "slurmdbd", "mariadb"}
	for i := range r.options.Groups {
		all = append(all, r.options.Groups[i].nodes()...)
	}
	return all
}

func freePorts(names []string) (map[string]int, error) {
	ports := make(map[string]int)
	for _, name := range names {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // at the end, so that no port comes twice
		ports[name] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

func (r *Rig) path(elements ...string) string {
	return filepath.Join(append([]string{r.Folder}, elements...)...)
}

// Environ returns the environment that commands need to reach this Slurm.
func (r *Rig) Environ() []string {
	return []string{"SLURM_CONF=" + r.path("slurm.conf")}
}

// Client returns a client of this Slurm, as root.
func (r *Rig) Client() *client.Client { return &client.Client{Run: r.As("root")} }

const patience = 60 * time.Second

// Await polls done until it returns true.
func Await(ctx context.Context, what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		ok, err := done()
		if ok && err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %v for %s: %w", patience, what, errors.Join(err, ctx.Err()))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Log returns the log of a daemon, such as slurmctld or slurmd-a1.
func (r *Rig) Log(name string) string {
	text, err := os.ReadFile(r.path("log", name+".log"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (r *Rig) complaints() string {
	files, _ := filepath.Glob(r.path("log", "*"))
	var b strings.Builder
	for _, f := range files {
		text, _ := os.ReadFile(f)
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "error") || strings.Contains(line, "fatal") {
				fmt.Fprintf(&b, "%s: %s", filepath.Base(f), line)
			}
		}
	}
	return b.String()
}
