package account

import (
	"fmt"
	"net"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Of returns the user who opened the unix socket connection c, according to the kernel (SO_PEERCRED and SO_PEERGROUPS
// of unix(7)).
func Of(c net.Conn) (User, error) {
	local, ok := c.(*net.UnixConn)
	if !ok {
		return User{}, fmt.Errorf("a %T does not identify its user", c)
	}
	raw, err := local.SyscallConn()
	if err != nil {
		return User{}, err
	}
	var u User
	var asked error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Ucred
		if cred, asked = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); asked != nil {
			return
		}
		u.UID, u.GID = int(cred.Uid), int(cred.Gid)
		u.Groups, asked = groups(fd)
	})
	if err == nil {
		err = asked
	}
	return u, err
}

const mostGroups = 1 << 16

// groups needs unsafe, because golang.org/x/sys/unix has no call for an option of variable size.
func groups(fd uintptr) ([]int, error) {
	for n := 64; ; n = mostGroups {
		list := make([]uint32, n)
		size := uint32(4 * n)
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_PEERGROUPS,
			uintptr(unsafe.Pointer(&list[0])), uintptr(unsafe.Pointer(&size)), 0)
		if errno == unix.ERANGE && n < mostGroups {
			continue
		}
		if errno != 0 {
			return nil, errno
		}
		all := make([]int, size/4)
		for i := range all {
			all[i] = int(list[i])
		}
		return all, nil
	}
}

// Credential returns the credential for starting a process that runs as the user.
func (u *User) Credential() *syscall.Credential {
	c := &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID)}
	for _, g := range u.Groups {
		c.Groups = append(c.Groups, uint32(g))
	}
	return c
}

// Do calls f with the file access rights of the user (setfsuid(2)); for a nil user it only calls f. The caller must be
// root. f must not access files in other goroutines.
func (u *User) Do(f func() error) error {
	if u == nil {
		return f()
	}
	runtime.LockOSThread() // the rights belong to this thread only
	before, err := unix.Getgroups()
	if err == nil {
		err = setRights(u.Groups, u.GID, u.UID)
	}
	if err == nil {
		err = f()
	}
	if setRights(before, unix.Getegid(), unix.Geteuid()) == nil {
		runtime.UnlockOSThread() // otherwise the thread ends with its goroutine
	}
	return err
}

func setRights(groups []int, gid, uid int) error {
	if err := unix.Setgroups(groups); err != nil {
		return fmt.Errorf("become uid %d: %w", uid, err)
	}
	for _, id := range []struct {
		set  func(int) (int, error)
		want int
	}{{unix.SetfsgidRetGid, gid}, {unix.SetfsuidRetUid, uid}} {
		if _, err := id.set(id.want); err != nil {
			return err
		}
		if now, err := id.set(-1); err != nil || now != id.want { // setfsuid reports no errors
			return fmt.Errorf("become uid %d: the kernel keeps uid or gid %d (%w)", uid, now, unix.EPERM)
		}
	}
	return nil
}
