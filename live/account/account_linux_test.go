package account

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// People are told whose something is, by a name if there is one.
func TestName(t *testing.T) {
	if got := Name(0); got != "root" {
		t.Errorf("uid 0 is %q", got)
	}
	if got := Name(4294967289); got != "uid 4294967289" {
		t.Errorf("a uid without a name is %q", got)
	}
}

func TestEnvironment(t *testing.T) {
	root, unnamed := User{}, User{UID: 54001}
	for _, tc := range []struct {
		u         User
		env, want []string
	}{
		{root, nil, []string{"HOME=/root", "USER=root", "LOGNAME=root"}},
		{root, []string{"USER=ada", "HOME=/elsewhere", "LOGNAME=x", "A=1"}, []string{"HOME=/elsewhere", "A=1", "USER=root", "LOGNAME=root"}},
		{unnamed, []string{"A=1"}, []string{"A=1"}},
	} {
		if got := tc.u.Environment(slices.Clone(tc.env)); !slices.Equal(got, tc.want) {
			t.Errorf("of %q: got %q, want %q", tc.env, got, tc.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]int{"root": 0, "54001": 54001} {
		if got, err := ID(text); err != nil || got != want {
			t.Errorf("user %s: %d, %v; want %d", text, got, err, want)
		}
		if got, err := GroupID(text); err != nil || got != want {
			t.Errorf("group %s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "nobody known", "4294967295"} {
		if _, err := ID(text); err == nil || !strings.Contains(err.Error(), "not found; use a name or a number") {
			t.Errorf("user %q: got %v, want that it is not found", text, err)
		}
	}
}

// The kernel says who connects, with all groups.
func TestOf(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer dialled.Close()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	groups, err := os.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	u, err := Of(c)
	slices.Sort(u.Groups)
	slices.Sort(groups)
	if err != nil || u.UID != os.Geteuid() || u.GID != os.Getegid() || !slices.Equal(u.Groups, groups) {
		t.Errorf("%+v, %v; want uid %d, gid %d, groups %v", u, err, os.Geteuid(), os.Getegid(), groups)
	}
}

// Do looks at files as the user may, on its own thread only, and is root again afterwards, whatever happened.
func TestDo(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root, who alone can look at files as another user")
	}
	secret := filepath.Join(t.TempDir(), "secret")
	shared := filepath.Join(t.TempDir(), "of a group")
	for path, mode := range map[string]fs.FileMode{secret: 0o600, shared: 0o640} {
		if err := os.WriteFile(path, []byte("x"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Dir(filepath.Dir(path)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(shared, 0, 54321); err != nil {
		t.Fatal(err)
	}
	read := func(path string) func() error {
		return func() error {
			_, err := os.ReadFile(path)
			return err
		}
	}
	before, err := unix.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	u := &User{UID: 54001, GID: 54001, Groups: []int{54321}}
	if err := u.Do(read(secret)); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file of root: got %v, want that it is not permitted", err)
	}
	if err := u.Do(read(shared)); err != nil {
		t.Errorf("a file of a supplementary group: %v", err)
	}
	if err := (&User{UID: 54001, GID: 54001}).Do(read(shared)); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file of a group that the user is not in: got %v, want that it is not permitted", err)
	}
	if err := errors.Join(read(secret)(), (*User)(nil).Do(read(secret))); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if after, err := unix.Getgroups(); err != nil || !slices.Equal(before, after) {
		t.Errorf("groups %v (%v), want %v", after, err, before)
	}
}
