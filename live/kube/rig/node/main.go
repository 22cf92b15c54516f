package node

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/oxgang/oxgang/live/kube/rig"
)

// stage is the environment variable with the stage of a process: "" outside of the namespaces, "init" for their
// first process, "tests" for the tests.
const stage = "OXGANG_RIG_STAGE"

// Environment variables for the processes inside: the prefix of the run's control groups, and the directories of
// programs prepared outside.
const (
	groupName = "OXGANG_RIG_CGROUPS"
	binDir    = "OXGANG_RIG_BIN"
	debianDir = "OXGANG_RIG_DEBIAN"
)

// Main runs a package's tests in separate Linux namespaces and exits. TestMain must do nothing but call Main. On a
// machine that cannot do this, the tests run normally and Start skips them.
func Main(m *testing.M) {
	switch os.Getenv(stage) {
	case "tests":
		os.Exit(m.Run())
	case "init":
		os.Exit(exitCode(first()))
	}
	flag.Parse()
	if testing.Short() || listing() || Unable() != nil {
		os.Exit(m.Run())
	}
	os.Exit(exitCode(enter()))
}

func listing() bool {
	f := flag.Lookup("test.list")
	return f != nil && f.Value.String() != ""
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exit.ExitCode()
	}
	fmt.Fprintln(os.Stderr, "node:", err)
	return 1
}

func nextStage(next string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), stage+"="+next)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// enter runs the tests in new namespaces, and then removes their control groups. Its thread must not end, because
// the kernel would then end the tests.
func enter() error {
	runtime.LockOSThread()
	rig.FollowGo()
	bin, err := rig.Build(context.Background(), rig.Everything)
	if err != nil {
		return err
	}
	unpacked, err := debian(context.Background())
	if err != nil {
		return err
	}
	sweepGroups(cgroups)
	name := fmt.Sprintf("%s%d", prefix, os.Getpid())
	cmd := nextStage("init")
	cmd.Env = append(cmd.Env, groupName+"="+name, binDir+"="+bin, debianDir+"="+unpacked)
	cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID
	err = cmd.Run()
	removeGroups(cgroups, name+"-*")
	return err
}

func first() error {
	runtime.LockOSThread()
	if err := furnish(); err != nil {
		return err
	}
	cmd := nextStage("tests")
	if err := cmd.Start(); err != nil {
		return err
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return fmt.Errorf("wait for the tests: %w", err)
		case pid == cmd.Process.Pid && status.Exited() && status.ExitStatus() == 0:
			return nil
		case pid == cmd.Process.Pid && status.Exited():
			os.Exit(status.ExitStatus())
		case pid == cmd.Process.Pid:
			return fmt.Errorf("the tests ended by signal %d", status.Signal())
		}
	}
}

func furnish() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	for _, m := range []struct{ kind, target string }{{"proc", "/proc"}, {"tmpfs", "/run"}, {"tmpfs", "/var/log"}} {
		if err := unix.Mount(m.kind, m.target, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	upper, work := filepath.Join("/run", "etc", "upper"), filepath.Join("/run", "etc", "work")
	for _, dir := range []string{upper, work} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=/etc,upperdir=%s,workdir=%s", upper, work)
	if err := unix.Mount("overlay", "/etc", "overlay", 0, options); err != nil {
		return fmt.Errorf("mount a copy of /etc: %w", err)
	}
	return startNetwork()
}
