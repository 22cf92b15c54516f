// Package account identifies users of this machine.
package account

import (
	"fmt"
	"os/user"
	"slices"
	"strconv"
	"strings"
)

// A User is an account of this machine: the user and group IDs with which the kernel decides on access to files.
type User struct {
	UID    int   `json:"uid"`
	GID    int   `json:"gid"`              // primary group
	Groups []int `json:"groups,omitempty"` // supplementary groups
}

// Name returns the user's name, or "uid 1234" if it has none.
func (u *User) Name() string { return Name(u.UID) }

// Name returns the name of a user, or "uid 1234" if it has none.
func Name(uid int) string {
	if known, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return known.Username
	}
	return "uid " + strconv.Itoa(uid)
}

// In reports whether the user is in a group.
func (u *User) In(gid int) bool { return u.GID == gid || slices.Contains(u.Groups, gid) }

// Environment returns env with the user's USER and LOGNAME, and HOME if env lacks it, for a program that runs as the
// user.
func (u *User) Environment(env []string) []string {
	known, err := user.LookupId(strconv.Itoa(u.UID))
	if err != nil {
		return env
	}
	own := slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		return strings.HasPrefix(e, "USER=") || strings.HasPrefix(e, "LOGNAME=")
	})
	if !slices.ContainsFunc(own, func(e string) bool { return strings.HasPrefix(e, "HOME=") }) {
		own = append(own, "HOME="+known.HomeDir)
	}
	return append(own, "USER="+known.Username, "LOGNAME="+known.Username)
}

// ID returns the user ID of the user called name; name may also be a number.
func ID(name string) (int, error) {
	if known, err := user.Lookup(name); err == nil {
		return strconv.Atoi(known.Uid)
	}
	return number("user", name)
}

// GroupID returns the group ID of the group called name; name may also be a number.
func GroupID(name string) (int, error) {
	if known, err := user.LookupGroup(name); err == nil {
		return strconv.Atoi(known.Gid)
	}
	return number("group", name)
}

func number(kind, text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%s %q: not found; use a name or a number of this machine", kind, text)
	}
	return int(n), nil
}
