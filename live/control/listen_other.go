//go:build !linux

package control

import (
	"errors"
	"net"
)

// An Access says who may connect to a socket.
type Access struct{}

// Private is for the owner, and root, alone.
func Private() Access { return Access{} }

// OfGroup is for the members of a group, too.
func OfGroup(int) Access { return Access{} }

// Public is for everybody.
func Public() Access { return Access{} }

// Listen returns an error: only on Linux is it checked who connects.
func Listen(string, Access) (net.Listener, error) {
	return nil, errors.New("control socket: works on Linux only")
}
