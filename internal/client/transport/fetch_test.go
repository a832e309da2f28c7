// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

// link is a presigned link.
const link = "http://user:" + signature + "@store.test/b.tar.gz?X-Amz-Signature=" + signature
