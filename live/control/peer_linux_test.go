package control

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/oxgang/oxgang/live/account"
)

func TestAllowed(t *testing.T) {
	of := func(uid int, groups ...int) peer { return peer{User: account.User{UID: uid, GID: uid, Groups: groups}} }
	tests := []struct {
		p            peer
		owner, group int
		want         string // part of the error; empty: none
	}{
		{of(1000), 1000, noGroup, ""},
		{of(0), 1000, noGroup, ""},
		{of(0), 0, noGroup, ""},
		{of(1001), 1000, noGroup, "uid 1001: not the owner of this scheduler (uid 1000), nor root"},
		{of(1001), 0, noGroup, "uid 1001: not the owner"},
		{peer{err: errors.New("not known")}, 0, noGroup, "user: not known, want the owner (uid 0) or root"},
		{of(1001, 7, 50), 0, 50, ""},
		{of(50), 0, 50, ""}, // his primary group
		{of(1001, 7), 0, 50, "uid 1001: not in the group of this scheduler's users (gid 50)"},
		{peer{err: errors.New("not known")}, 0, 0, "user: not known"},
	}
	for _, test := range tests {
		err := allowed(test.p, test.owner, test.group)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v of %d: got %v, want %q", test.p, test.owner, err, test.want)
		}
	}
}

// The kernel says who is on the other end, and another user is refused whatever the
// modes of the socket and its folder.
func TestPeer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	path := filepath.Join(dir, "s")
	l, err := Listen(path, Private())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Dir(filepath.Dir(dir)), filepath.Dir(dir), dir, path} {
		if err := os.Chmod(name, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	server := New(nil) // who is refused asks nothing of it
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	defer func() {
		if err := errors.Join(server.Shutdown(context.Background()), <-done); err != nil {
			t.Error(err)
		}
	}()

	me := os.Geteuid()
	if status, text := ask(t, path, me); status != http.StatusNotFound {
		t.Errorf("the owner: got status %d and %s, want that the path is not known", status, text)
	}
	if me != 0 {
		t.Skip("not root, who alone can be another user")
	}
	if status, text := ask(t, path, 65534); status != http.StatusForbidden || !strings.Contains(text, "uid 65534: not the owner") {
		t.Errorf("another user: got status %d and %s, want 403", status, text)
	}
}

// ask sends a request for a path that is not known, as a user.
func ask(t *testing.T, path string, uid int) (int, string) {
	t.Helper()
	dialled := make(chan net.Conn, 1)
	go func() { // its thread ends with it, if it has become another user's
		if uid != os.Geteuid() {
			runtime.LockOSThread()
			const same = ^uintptr(0)
			if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(uid), uintptr(uid), same); errno != 0 {
				t.Errorf("setresuid: %v", errno)
			}
		}
		dialled <- dial(t, path)
	}()
	c := <-dialled
	if c == nil {
		t.FailNow()
	}
	defer c.Close()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return c, nil }}
	resp, err := (&http.Client{Transport: transport}).Get("http://oxgang/nowhere")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var e Error
	if err := json.NewDecoder(resp.Body).Decode(&e); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, e.Message
}

func dial(t *testing.T, path string) net.Conn {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Error(err)
		return nil
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		t.Error(err)
		return nil
	}
	c, err := net.FileConn(f)
	if err != nil {
		t.Error(err)
	}
	return c
}

// A connection that is no unix socket has no user, and so may not ask.
func TestPeer_of_another_kind(t *testing.T) {
	s := httptest.NewUnstartedServer(New(nil).handler())
	s.Config.ConnContext = withPeer
	s.Start()
	defer s.Close()
	resp, err := http.Get(s.URL + "/v1/status")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("over TCP: got status %d, want 403", resp.StatusCode)
	}
	w := httptest.NewRecorder()
	New(nil).handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/status", nil))
	if w.Code != http.StatusForbidden {
		t.Errorf("without a connection: got status %d, want 403", w.Code)
	}
}

func TestListen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "control.sock")
	l, err := Listen(path, Private())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{dir: 0o700 | os.ModeDir, path: 0o600 | os.ModeSocket} {
		info, err := os.Stat(name)
		if err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v and %v, want %v", name, info.Mode(), err, want)
		}
	}
	if _, err := Listen(path, Private()); err == nil || !strings.HasSuffix(err.Error(), "another scheduler listens there") {
		t.Errorf("a second: got %v, want that another listens", err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // as one that was killed
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, err = Listen(path, Private())
	if err != nil {
		t.Fatalf("after one that was killed: %v", err)
	}
	l.Close()
}

func TestListen_refuses(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o750); err != nil {
		t.Fatal(err)
	}
	taken := filepath.Join(t.TempDir(), "taken")
	if err := os.Mkdir(taken, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(taken, "s"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(open, "s"):       "mode 0750, want 0700: others could use it",
		filepath.Join(taken, "s"):      "the path is not a socket; remove it",
		filepath.Join(taken, "s", "s"): "state directory: mkdir",
		"/" + strings.Repeat("x", 107): "108 bytes, want at most 107: choose a shorter state directory",
		"/proc/nowhere/control.sock":   "state directory: mkdir /proc/nowhere: ",
	} {
		if l, err := Listen(path, Private()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %v and %v, want %q", path, l, err, want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(taken, "s")); err != nil || string(text) != "mine" {
		t.Errorf("the file in the way: got %q and %v, want it untouched", text, err)
	}
}
