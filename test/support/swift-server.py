"""
OpenStack Swift as a service of S3 for the tests: its proxy and its stores, in one process, with everything below FOLDER.

    /usr/bin/python3 test/support/swift-server.py FOLDER PORT

Two users, of whom one may see what the other has in no bucket; ten keys in a page of a list.
"""
import array
import os
import sys

import eventlet
from swift.common import utils

utils.eventlet_monkey_patch()
# Elsewhere it is that of a cluster, in /etc/swift.
utils.HASH_PATH_SUFFIX = b'tests'

from eventlet import wsgi
from swift.account.server import AccountController
from swift.common.ring import RingData
from swift.common.wsgi import SwiftHttpProtocol, loadapp
from swift.container.server import ContainerController
from swift.obj.mem_server import ObjectController

folder, port = sys.argv[1], int(sys.argv[2])

PROXY = f'''
[DEFAULT]
swift_dir = {folder}
[pipeline:main]
pipeline = catch_errors gatekeeper cache listing_formats s3api tempauth slo proxy-server
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = eu-central-1
max_bucket_listing = 10
min_segment_size = 1
[filter:tempauth]
use = egg:swift#tempauth
user_books_agent = secret/with+odd=signs .admin
user_books_stranger = another-secret
[filter:slo]
use = egg:swift#slo
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
'''


def serve(socket, app):
    with open(os.devnull, 'w') as silent:
        wsgi.server(socket, app, silent, protocol=SwiftHttpProtocol, capitalize_response_headers=False)


os.mkdir(os.path.join(folder, 'device'))
settings = {'devices': folder, 'mount_check': 'false', 'swift_dir': folder}
for name, store in ('account', AccountController), ('container', ContainerController), ('object', ObjectController):
    socket = eventlet.listen(('127.0.0.1', 0))
    device = {'id': 0, 'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': socket.getsockname()[1], 'device': 'device', 'weight': 1}
    RingData([array.array('H', [0, 0])], [device], 31).save(os.path.join(folder, f'{name}.ring.gz'))
    eventlet.spawn(serve, socket, store(settings))

proxy = os.path.join(folder, 'proxy.conf')
with open(proxy, 'w') as file:
    file.write(PROXY)
serve(eventlet.listen(('127.0.0.1', port)), loadapp(proxy))
