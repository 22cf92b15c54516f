//go:build !linux

package control

import (
	"errors"
	"net"
)

// An Access states who may connect to a socket.
type Access struct{}

// Private allows the owner and root.
func Private() Access { return Access{} }

// OfGroup allows the owner, root, and members of a group. All users may enter the socket's directory.
func OfGroup(int) Access { return Access{} }

// Public allows everybody.
func Public() Access { return Access{} }

// Listen listens on a unix socket at path, and creates its directory if needed. It returns an error if other users
// have more rights to the directory than a allows, or if a scheduler already listens there. It replaces the socket
// of a dead scheduler.
func Listen(string, Access) (net.Listener, error) {
	return nil, errors.New("control socket: works on Linux only")
}
