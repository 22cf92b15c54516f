package slurm

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
)

// The accounts of this machine that take part: one whose job is attacked, and one without rights who tries.
const victim, attacker = "daemon", "nobody"

// as runs a shell command as a user, with an input.
func (th *theatre) as(name, shell, input string) (string, error) {
	out, err := th.As(name)(th.t.Context(), client.Command{Name: "sh", Args: []string{"-c", shell}, Input: []byte(input)})
	return string(out), err
}

// by submits an elastic job of a user, from a folder.
func (th *theatre) by(name, secret, folder string) client.ID {
	th.t.Helper()
	j := client.ElasticJob{
		Request: client.Request{Part: client.Elastic, Min: 1, Max: 1}, Command: []string{"sleep", "600"}, Token: secret,
		Output: filepath.Join(folder, "%j.out"), Grace: 10 * time.Second, Limit: time.Hour,
	}
	script, err := j.Script()
	if err != nil {
		th.t.Fatal(err)
	}
	options, err := j.Options(4)
	if err != nil {
		th.t.Fatal(err)
	}
	for i := range options {
		options[i] = client.Quote(options[i])
	}
	out, err := th.as(name, "cd "+folder+" && sbatch --parsable "+strings.Join(options, " "), string(script))
	if err != nil {
		th.t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		th.t.Fatal(err)
	}
	return client.ID(n) //nolint:gosec // sbatch numbers jobs from 1
}

func (th *theatre) folderOf(name string, mode os.FileMode) string {
	th.t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		th.t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	path, err := os.MkdirTemp(th.dir, name)
	if err == nil {
		err = os.Chown(path, uid, -1)
	}
	if err == nil {
		err = os.Chmod(path, mode)
	}
	if err != nil {
		th.t.Fatal(err)
	}
	return path
}

// Another user of the cluster, without rights, neither reads the token of a job, nor speaks for it, nor changes, stops or marks it, nor
// gives it checkpoints, nor ends the scheduler.
func TestRig_attacks(t *testing.T) {
	th := newTheatre(t, func(*Config) {})
	th.kill()
	if err := os.Chmod(filepath.Dir(th.dir), 0o755); err != nil { //nolint:gosec // other users pass through it
		t.Fatal(err)
	}
	state, share := filepath.Join(th.dir, "state"), filepath.Join(th.dir, "share")
	th.with = func(c *Config) {
		c.State, c.Agents = state, Agents{Listen: "127.0.0.1:0", Names: []string{"localhost"}, Share: share}
	}
	th.lead()
	secret := client.NewToken(victim)
	id := th.by(victim, secret, th.folderOf(victim, 0o755))
	th.Until(t, id, "runs as planned", func(j *client.Job) bool {
		return j.State == client.Running && strings.Contains(j.AdminComment, "agents=") && !strings.Contains(j.AdminComment, "hold")
	})
	th.untouched(id)
	th.unread(id, secret, state, share)
	th.unheard(id, secret, share)
	th.unplanted()
	j := th.Job(t, id)
	if j.State != client.Running || j.Restarts != 0 {
		t.Errorf("the job is %s after %d restarts, want that it still runs", j.State, j.Restarts)
	}
	th.kill()
}

// untouched has the attacker give commands about a job, and about all.
func (th *theatre) untouched(id client.ID) {
	n := id.String()
	before := th.Job(th.t, id)
	for _, command := range []string{
		"scontrol update jobid=" + n + " comment=oxgang:order", "scontrol update jobid=" + n + " admincomment=oxgang:hold", "scontrol update jobid=" + n + " nice=9",
		"scontrol update jobid=" + n + " timelimit=1", "scontrol hold " + n, "scontrol requeue " + n, "scontrol requeuehold " + n, "scontrol suspend " + n,
		"scancel " + n, "scancel --signal=USR1 --batch " + n, "scontrol update nodename=a1 state=drain reason=x", "scontrol shutdown",
	} {
		if out, err := th.as(attacker, command, ""); err == nil {
			th.t.Errorf("%s: %q, want that it is refused", command, out)
		}
	}
	c := config()
	c.Partition = "all"
	if done, err := ReleasePartition(th.t.Context(), &client.Client{Run: th.As(attacker)}, c, quiet); err == nil {
		th.t.Errorf("another's release gives %d commands, want that they are refused", done)
	}
	if _, err := th.as(attacker, `sbatch --hold --gres=gpu:1 --output=/dev/null --job-name="x AdminComment=oxgang:nice=-9;epoch=9223372036854775807" --wrap true`, ""); err != nil {
		th.t.Error(err)
	}
	if after := th.Job(th.t, id); after.Comment != before.Comment || after.AdminComment != before.AdminComment || after.Nice != before.Nice || after.Limit != before.Limit {
		th.t.Errorf("the job was %+v\nand is %+v", before, after)
	}
}

// unread has the attacker look for a secret wherever it may be.
func (th *theatre) unread(id client.ID, secret, state, share string) {
	// Slurm ends with 0 where it refuses to write a script.
	look := "grep -rslaF -f - " + th.Folder + " " + th.dir + " /proc/[0-9]*/environ /proc/[0-9]*/cmdline; scontrol write batch_script " + id.String() + " -; true"
	if out, err := th.as("root", look, secret); err != nil || !strings.Contains(out, "environ") || !strings.Contains(out, secret) {
		th.t.Errorf("root finds the secret in %q, %v, want it in an environment and in the script", out, err)
	}
	if out, _ := th.as(attacker, look, secret); out != "" {
		th.t.Errorf("the secret is in %s", out)
	}
	for _, command := range []string{"ls " + state, "cat " + state + "/journals/*", "touch " + share + "/url", "ln -s /etc/passwd " + share + "/url.new"} {
		if out, err := th.as(attacker, command, ""); err == nil {
			th.t.Errorf("%s: %q, want that it is refused", command, out)
		}
	}
}

// unheard has the attacker speak for a job, with tokens that are made up, and with the digest of the job's own, which all can read.
func (th *theatre) unheard(id client.ID, secret, share string) {
	own := client.NewToken(victim)
	copied := th.by(attacker, own, th.folderOf(attacker, 0o755)) // names the victim, in a job of the attacker's
	forged := "oxgang:elastic;min=1;max=1;token=" + client.Digest(secret)
	if _, err := th.as(attacker, "scontrol update jobid="+copied.String()+" comment='"+forged+"'", ""); err != nil {
		th.t.Error(err)
	}
	other := th.by(attacker, own, th.folderOf(attacker, 0o755))
	for _, j := range []client.ID{copied, other} {
		th.Until(th.t, j, "runs", func(j *client.Job) bool {
			return j.State == client.Running && strings.Contains(j.AdminComment, "agents=")
		})
	}
	th.t.Setenv("OXGANG_URL_FILE", filepath.Join(share, "url"))
	th.t.Setenv("OXGANG_CA_FILE", filepath.Join(share, "ca.crt"))
	hello := func(token string) error {
		return (&lightWorker{token: token}).post("hello", &agentapi.Hello{
			Version: agentapi.Version, Client: "test", Generation: 1, WorldSize: 1, Batch: agentapi.BatchLimits{Init: 1, Max: 1},
		})
	}
	for _, made := range []string{"", "x", client.NewToken(victim), client.NewToken(attacker), own} {
		if err := hello(made); err == nil || !strings.Contains(err.Error(), "401") {
			th.t.Errorf("with another's token: %v, want 401", err)
		}
	}
	if err := hello(secret); err != nil {
		th.t.Errorf("the job itself is not heard any more: %v", err)
	}
}

// unplanted has the attacker make the folder of checkpoints first, where all may write and the victim submits.
func (th *theatre) unplanted() {
	place := th.folderOf("root", 0o1777)
	if _, err := th.as(attacker, "mkdir -m 777 "+place+"/.oxgang", ""); err != nil {
		th.t.Fatal(err)
	}
	id := th.by(victim, client.NewToken(victim), place)
	var ended client.Job
	if err := slurmtest.Await(th.t.Context(), "its end", func() (bool, error) {
		ended = th.Job(th.t, id)
		return !ended.Waits() && !ended.Holds(), nil
	}); err != nil {
		th.t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(place, id.String()+".out"))
	if ended.State != client.Failure || !strings.Contains(string(text), "does not belong to "+victim) {
		th.t.Errorf("the job is %s and says %q, %v, want that it refuses the folder", ended.State, text, err)
	}
}
