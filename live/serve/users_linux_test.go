package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/model/job"
)

// trainers is the group that may submit jobs. It has no name, and its members but one have none.
const trainers = 54321

var (
	alice    = account.User{UID: 54001, GID: 54001, Groups: []int{trainers}}
	bob      = account.User{UID: 65534, GID: 65534, Groups: []int{54007, trainers}} // nobody
	stranger = account.User{UID: 54003, GID: 54003}
)

// several are the options of a scheduler for several users, in a directory that they can reach.
func several(t *testing.T) Options {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not root, who alone can run jobs as other users")
	}
	o := options(t)
	if err := os.Chmod(filepath.Dir(filepath.Dir(o.Dir)), 0o711); err != nil {
		t.Fatal(err)
	}
	o.Group = fmt.Sprint(trainers)
	return o
}

// shared runs a scheduler for several users.
func shared(t *testing.T, quotas map[string]int) *served {
	t.Helper()
	o := several(t)
	o.Quotas = quotas
	return start(t, o)
}

// dial connects as a user: on a thread that becomes the user's, and ends.
func dial(u account.User, path string) (net.Conn, error) {
	type result struct {
		net.Conn
		error
	}
	got := make(chan result, 1)
	go func() {
		runtime.LockOSThread()
		groups := make([]uint32, 0, 8)
		for _, g := range u.Groups {
			groups = append(groups, uint32(g))
		}
		id := func(n int) uintptr { return uintptr(n) }
		_, _, errno := syscall.RawSyscall(syscall.SYS_SETGROUPS, id(len(groups)), uintptr(unsafe.Pointer(unsafe.SliceData(groups))), 0)
		if errno == 0 {
			_, _, errno = syscall.RawSyscall(syscall.SYS_SETRESGID, id(u.GID), id(u.GID), id(u.GID))
		}
		if errno == 0 {
			_, _, errno = syscall.RawSyscall(syscall.SYS_SETRESUID, id(u.UID), id(u.UID), id(u.UID))
		}
		if errno != 0 {
			got <- result{nil, errno}
			return
		}
		got <- func() result {
			fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
			if err != nil {
				return result{nil, err}
			}
			f := os.NewFile(uintptr(fd), path)
			defer f.Close()
			if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
				return result{nil, err}
			}
			c, err := net.FileConn(f)
			return result{c, err}
		}()
	}()
	r := <-got
	return r.Conn, r.error
}

// ask sends a request as a user, and returns the status and the text of the answer.
func (s *served) ask(u account.User, method, path, body string) (int, string) {
	s.t.Helper()
	c, err := dial(u, ControlSocket(s.o.Dir))
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return c, nil }}
	req, err := http.NewRequest(method, "http://oxgang"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// submitAs has a script run as a user.
func (s *served) submitAs(u account.User, r *control.Request) job.ID {
	s.t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		s.t.Fatal(err)
	}
	status, answer := s.ask(u, http.MethodPost, "/v1/jobs", string(text))
	var a struct{ ID job.ID }
	if err := json.Unmarshal([]byte(answer), &a); err != nil || status != http.StatusOK {
		s.t.Fatalf("submit: %d %s", status, answer)
	}
	return a.ID
}

func (s *served) script(name, text string) *control.Request {
	r := s.request(name, "sh", "-c", text)
	r.Dir = "/"
	return r
}

// log returns what a job has written.
func (s *served) output(id job.ID) string {
	s.t.Helper()
	var out bytes.Buffer
	if err := s.Log(s.t.Context(), id, 1000, false, &out); err != nil {
		s.t.Fatal(err)
	}
	return out.String()
}

// A job runs as who submitted it, with all groups, whatever its environment says; and may save checkpoints and speak to
// the scheduler.
func TestUsers_jobs_run_as_who_submitted_them(t *testing.T) {
	t.Parallel()
	s := shared(t, nil)
	const who = `id -u; id -g; id -G; echo $USER $LOGNAME $HOME; : > $OXGANG_CHECKPOINTS/c && echo saved; test -w $OXGANG_SOCKET && echo speaks; cat ${OXGANG_NOTICE%/*}/notice.json 2>&1 | grep -c denied`
	for name, tc := range map[string]struct {
		u    account.User
		want string
	}{
		"alice": {alice, "54001\n54001\n54001 54321\nroot root /forged\nsaved\nspeaks\n0\n"},
		"bob":   {bob, "65534\n65534\n65534 54007 54321\nnobody nobody /forged\nsaved\nspeaks\n0\n"},
		"root":  {account.User{}, "0\n0\n0\nroot root /forged\nsaved\nspeaks\n0\n"},
	} {
		r := s.script(name, who)
		r.Env = append(r.Env, "USER=root", "LOGNAME=root", "HOME=/forged")
		id := s.submitAs(tc.u, r)
		if v := s.ended(id); s.output(id) != tc.want || v.User != tc.u.Name() {
			t.Errorf("%s: %s of %s says %q, want %q", name, v.Detail, v.User, s.output(id), tc.want)
		}
	}
}

// Who another user is, the kernel says: nothing in a request does.
func TestUsers_cannot_forge_who_they_are(t *testing.T) {
	t.Parallel()
	s := shared(t, nil)
	for _, more := range []string{`"user":{"uid":0,"gid":0}`, `"User":{"uid":0}`, `"uid":0`, `"UID":0`} {
		if status, text := s.ask(alice, http.MethodPost, "/v1/jobs", `{"command":["true"],"dir":"/",`+more+`}`); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s, want that it is refused", more, status, text)
		}
	}
	if c, err := dial(stranger, ControlSocket(s.o.Dir)); err == nil {
		c.Close()
		t.Error("who is not in the group has connected")
	}
}

// Users see that there are jobs of others, and neither what these run nor what they say; and cannot end them.
func TestUsers_have_no_say_in_jobs_of_others(t *testing.T) {
	t.Parallel()
	s := shared(t, nil)
	r := s.script("hers", "echo private-output; exec sleep 1000")
	r.Env = append(r.Env, "KEY=private-key")
	hers := s.submitAs(alice, r)
	failed := s.submitAs(alice, s.script("failed", "echo private-output; exit 1"))
	s.ended(failed)
	await(t, "her output", func() bool { return s.output(hers) != "" })
	for what, want := range map[string]int{
		"DELETE /v1/jobs/hers": http.StatusForbidden, "POST /v1/jobs/hers/retry": http.StatusForbidden, "GET /v1/jobs/hers/log": http.StatusForbidden, "GET /v1/jobs/hers/explain": http.StatusForbidden,
		"GET /v1/jobs/failed/log": http.StatusForbidden, "GET /v1/jobs/failed/explain": http.StatusForbidden, "POST /v1/prune": http.StatusForbidden,
		"GET /v1/jobs/hers": http.StatusOK, "GET /v1/jobs/failed": http.StatusOK, "GET /v1/status?all=true": http.StatusOK,
		"DELETE /v1/jobs/nowhere": http.StatusNotFound, "POST /v1/jobs/nowhere/retry": http.StatusNotFound,
	} {
		method, path, _ := strings.Cut(what, " ")
		status, text := s.ask(bob, method, path, "{}")
		if status != want || strings.Contains(text, "private-") {
			t.Errorf("%s by another user: %d %s, want %d and nothing private", what, status, text, want)
		}
	}
	if status, text := s.ask(alice, http.MethodGet, "/v1/jobs/hers", ""); status != http.StatusOK || !strings.Contains(text, "private-output") {
		t.Errorf("her own: %d %s, want what it runs", status, text)
	}
	if status, text := s.ask(alice, http.MethodGet, "/v1/jobs/hers/log", ""); status != http.StatusOK || !strings.Contains(text, "private-output") {
		t.Errorf("her own log: %d %s", status, text)
	}
	if strings.Contains(s.said.text.String(), "private-") {
		t.Errorf("the scheduler's log has what she runs:\n%s", s.said.text.String())
	}
	if status, text := s.ask(alice, http.MethodDelete, "/v1/jobs/hers", ""); status != http.StatusOK {
		t.Errorf("she cancels her own: %d %s", status, text)
	}
}

// What a job of another user tries, and must not succeed in. DIR is the state directory.
const attack = `
try() { if "$@" >/dev/null 2>&1; then echo "DONE: $*"; fi; }
try ls DIR; try ls DIR/jobs; try ls DIR/jobs/hers; try ls DIR/jobs/hers/1; try ls DIR/jobs/hers/checkpoints; try ls DIR/journal
for f in oxgang.db oxgang.db-wal oxgang.lock jobs/hers/log jobs/hers/job.json jobs/hers/1/launch.json jobs/hers/1/state.json jobs/hers/1/stderr \
	jobs/hers/checkpoints/model jobs/his/job.json jobs/his/1/launch.json jobs/his/1/state.json; do
	try cat DIR/$f; try cp /etc/hostname DIR/$f; try rm -f DIR/$f; try ln -sf ROOTFILE DIR/$f
done
try touch DIR/x; try touch DIR/jobs/x; try touch DIR/jobs/his/x; try touch DIR/jobs/his/1/x
try mv DIR/jobs/his/log DIR/jobs/his/old; try rmdir DIR/jobs/his/checkpoints; try mv DIR/jobs/his/checkpoints DIR/jobs/his/c
try rm -f DIR/jobs/his/log; try ln -sf ROOTFILE DIR/jobs/his/log
try kill -9 $PPID; try kill -STOP $PPID; try kill -9 HERPID; try cat /proc/HERPID/environ; try cat /proc/$PPID/environ; try ls -l /proc/$PPID/fd/
try cat ROOTFILE
ln -s ROOTFILE $OXGANG_CHECKPOINTS/model; ln -s / $OXGANG_CHECKPOINTS/all; mkfifo $OXGANG_CHECKPOINTS/pipe
echo tried
exec sleep 1000
`

// A job can neither read nor change what is another user's, or the scheduler's; and the scheduler, which is root, follows
// none of its links.
func TestUsers_attack(t *testing.T) {
	t.Parallel()
	s := shared(t, nil)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("root's secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	hers := s.submitAs(alice, s.script("hers", "echo $$; echo private > $OXGANG_CHECKPOINTS/model; exec sleep 1000"))
	await(t, "her pid", func() bool { return strings.HasSuffix(s.output(hers), "\n") })
	his := s.submitAs(bob, s.script("his", strings.NewReplacer("DIR", s.o.Dir, "ROOTFILE", secret, "HERPID", strings.TrimSpace(s.output(hers))).Replace(attack)))
	await(t, "the end of the attack", func() bool { return strings.Contains(s.output(his), "tried") })
	if out := s.output(his); out != "tried\n" {
		t.Errorf("it succeeded in:\n%s", out)
	}
	archive := filepath.Join(t.TempDir(), "backup.tar")
	if _, err := statedir.Backup(t.Context(), archive, s.o.Dir, true); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(archive); err != nil || bytes.Contains(text, []byte("root's secret")) || !bytes.Contains(text, []byte("private\n")) {
		t.Errorf("the backup follows links of a job, or lacks what it saved (%v)", err)
	}
	s.restored(archive)
	if err := s.Cancel(t.Context(), his); err != nil {
		t.Fatal(err)
	}
	s.ended(his)
	if _, err := Prune(s.o.Dir, nil, false); err == nil {
		t.Error("pruned without a scheduler, which runs")
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != "root's secret" {
		t.Errorf("root's file: %q, %v", text, err)
	}
}

// restored restores a backup, and checks that her checkpoint is hers again.
func (s *served) restored(archive string) {
	s.t.Helper()
	dir := filepath.Join(s.t.TempDir(), "restored")
	if _, err := statedir.Restore(s.t.Context(), archive, dir); err != nil {
		s.t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "jobs", "hers", "checkpoints", "model"))
	if err != nil {
		s.t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t); int(owner.Uid) != alice.UID || int(owner.Gid) != alice.GID {
		s.t.Errorf("her checkpoint is uid %d's after a restore, want hers", owner.Uid)
	}
}

// What a user may not see, a refusal does not tell: whether there is such a file.
func TestUsers_learn_nothing_from_refusals(t *testing.T) {
	t.Parallel()
	s := shared(t, nil)
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(closed, "there"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	answers := map[string]bool{}
	for _, name := range []string{"there", "nowhere"} {
		for _, r := range []*control.Request{s.script("job", "true"), s.request("job", filepath.Join(closed, name))} {
			if r.Command[0] == "sh" {
				r.Dir = filepath.Join(closed, name)
			} else {
				r.Dir = "/"
			}
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			status, answer := s.ask(alice, http.MethodPost, "/v1/jobs", string(text))
			answers[fmt.Sprint(status, strings.ReplaceAll(answer, name, "x"))] = true
		}
	}
	if len(answers) != 2 { // one for each kind of request
		t.Errorf("%d answers, want the same whether there is a file or not: %v", len(answers), answers)
	}
}

// However many jobs a user submits, they hold no more GPUs at once than the quota, and others get theirs.
func TestUsers_quota(t *testing.T) {
	t.Parallel()
	s := shared(t, map[string]int{fmt.Sprint(alice.UID): 2, "*": 3})
	hers := make([]job.ID, 6)
	for i := range hers {
		hers[i] = s.submitAs(alice, s.script(fmt.Sprint("a", i), "sleep 0.3"))
	}
	last := hers[len(hers)-1]
	if v := s.view(last); v.Reason != "waiting: quota" || !strings.Contains(v.Sentence, "earlier jobs of uid 54001 use 2 of its quota of 2") {
		t.Errorf("%s: %q: %s; want the quota", last, v.Reason, v.Sentence)
	}
	if status, text := s.ask(alice, http.MethodGet, "/v1/jobs/"+string(last)+"/explain", ""); status != http.StatusOK || !strings.Contains(text, "waits for the quota of its user") {
		t.Errorf("explained: %d %s", status, text)
	}
	his := s.submitAs(bob, s.script("b", "sleep 0.1"))
	await(t, "a job of another user", func() bool { v := s.view(his); return v.GPUs == 1 || v.HasEnded() })
	if v := s.view(last); v.HasEnded() {
		t.Error("all hers ended before his began")
	}
	await(t, "the end of hers", func() bool {
		held := map[string]int{}
		now, err := s.Status(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		for i := range now.Jobs {
			held[now.Jobs[i].User] += now.Jobs[i].GPUs
		}
		if held["uid 54001"] > 2 {
			t.Fatalf("she holds %d GPUs, want 2 at most", held["uid 54001"])
		}
		return len(now.Jobs) == 0
	})
	for _, id := range hers {
		if v := s.view(id); v.Outcome != "done" {
			t.Errorf("job %s: %s %s, want it done", id, v.Outcome, v.Detail)
		}
	}
	r := s.script("large", "true")
	r.GPUs = control.Range{Min: 3, Max: 3}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if status, answer := s.ask(alice, http.MethodPost, "/v1/jobs", string(text)); status == http.StatusOK || !strings.Contains(answer, "is 2: ask for fewer") {
		t.Errorf("a job that can never run within the quota: %d %s", status, answer)
	}
}

// A scheduler that cannot be several users' says so, and what to do.
func TestUsers_refused(t *testing.T) {
	o := options(t)
	for want, change := range map[string]func(*Options){
		"users cannot reach it":                     func(o *Options) { o.Group = fmt.Sprint(trainers) },
		`group "no such": not found`:                func(o *Options) { o.Group = "no such" },
		`user "no such": not found`:                 func(o *Options) { o.Group, o.Quotas = "root", map[string]int{"no such": 1} },
		"quota of root: 0 GPUs, want 1 to 4096":     func(o *Options) { o.Group, o.Quotas = "root", map[string]int{"root": 0} },
		"only root can run jobs as others than its": func(o *Options) { o.Group = "root" },
	} {
		if root := os.Geteuid() == 0; root == strings.HasPrefix(want, "only root") {
			continue // true of root, or of others, alone
		}
		o := o
		change(&o)
		if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
