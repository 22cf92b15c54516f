package rig

import (
	"fmt"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// As returns a client configuration with the rights of a user who is in the given groups.
func (c *Cluster) As(user string, groups ...string) *rest.Config {
	pair, err := c.Authority.Client(user, groups...)
	if err != nil {
		panic(err) // only without random numbers
	}
	return &rest.Config{
		Host: c.Config.Host,
		QPS:  1000, Burst: 2000,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: c.Authority.Cert, CertData: pair.Cert, KeyData: pair.Key,
		},
	}
}

// AsServiceAccount is As for a service account, which need not exist.
func (c *Cluster) AsServiceAccount(namespace, name string) *rest.Config {
	return c.As("system:serviceaccount:"+namespace+":"+name,
		"system:serviceaccounts", "system:serviceaccounts:"+namespace)
}

// WriteKubeconfig writes config to the file name.kubeconfig in the cluster's directory, and returns its path.
func (c *Cluster) WriteKubeconfig(name string, config *rest.Config) (string, error) {
	path := filepath.Join(c.Dir, name+".kubeconfig")
	k := api.NewConfig()
	k.Clusters["rig"] = &api.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	k.AuthInfos[name] = &api.AuthInfo{
		ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
	}
	k.Contexts["rig"] = &api.Context{Cluster: "rig", AuthInfo: name}
	k.CurrentContext = "rig"
	if err := clientcmd.WriteToFile(*k, path); err != nil {
		return "", fmt.Errorf("write kubeconfig of %s: %w", name, err)
	}
	return path, nil
}
